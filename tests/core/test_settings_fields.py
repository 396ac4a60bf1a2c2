from __future__ import annotations

from ghost_core.settings_fields import FIELDS, RESERVED, variable
from ghost_core.settings_models import Settings
from ghost_core.settings_tables import PriceSettings
from ghost_core.settings_tighten import leaves


def test_every_field_of_the_table_is_in_the_models_and_the_other_way_round() -> None:
    tree = Settings().model_dump()
    tables = {"credentials", "tools", "rules", "webhooks", "triggers", "prices.models"}
    assert {".".join(steps) for steps, _ in leaves(tree)} - tables == set(FIELDS)


def test_a_variable_joins_the_tables_with_two_underscores() -> None:
    assert variable("proxy.port") == "GHOST_PROXY__PORT"


def test_no_setting_has_a_reserved_variable() -> None:
    assert not RESERVED & {variable(key) for key in FIELDS}


def test_the_price_list_has_the_default_name_of_the_table() -> None:
    assert PriceSettings().name == FIELDS["prices.name"].default
