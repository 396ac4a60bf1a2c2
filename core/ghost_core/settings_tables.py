"""The sections whose names the user invents: credentials, tools, rules, webhooks, triggers, prices."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from ghost_core.settings_tighten import Untrusted
from ghost_core.settings_types import (
    Event,
    ExpandedPath,
    FieldPath,
    OptionalPath,
    Reference,
    Seconds,
    Section,
    Size,
    Text,
    setting,
)

type CredentialKind = Literal[
    "bearer",
    "basic",
    "header",
    "query",
    "path",
    "body",
    "cookie",
    "placeholder",
    "sigv4",
    "oauth2",
    "jwt",
    "http_signature",
    "mtls",
]
type Issuer = Literal["static", "sts", "oauth2", "github_app", "ssh_ca", "postgres"]
type ReplyStatus = Annotated[str, Field(pattern=r"^(?:2(?:[0-9]{2}|XX)|default)$")]
type Schema = Annotated[ExpandedPath | dict[str, Any], Field(union_mode="left_to_right")]


class RotateSettings(Section):
    """When a credential is replaced; zero means never for that reason."""

    every_seconds: int = Field(default=0, ge=0)
    after_calls: int = Field(default=0, ge=0)
    on: tuple[Literal["evaporate", "leak"], ...] = ()


class CredentialSettings(Section):
    """One credential: a reference to its secret and the hosts it may go to, https only."""

    kind: CredentialKind = "bearer"
    secret: Reference | None = None
    hosts: tuple[Text, ...] = ()
    placeholder: Text | None = None
    header: Text | None = None
    prefix: str = ""
    query: Text | None = None
    body: Text | None = None
    cookie: Text | None = None
    username: Text | None = None
    rotate: RotateSettings = RotateSettings()
    issuer: Issuer = "static"
    role_arn: Text | None = None
    external_id: Text | None = None
    region: Text | None = None
    service: Text | None = None
    token_url: Text | None = None
    client_id: Text | None = None
    scopes: tuple[Text, ...] = ()
    audience: Text | None = None
    subject: Text | None = None
    app_id: Text | None = None
    installation_id: Text | None = None
    key_id: Text | None = None
    algorithm: Text | None = None
    certificate: OptionalPath = None
    principals: tuple[Text, ...] = ()
    ttl_seconds: Seconds | None = None


class SumLimit(Section):
    """How much one numeric field of the requests may add up to."""

    field: FieldPath
    max: Decimal = Field(ge=0)


class LimitSettings(Section):
    """What one session may use of an action: calls, request bytes, the sum of a field."""

    calls: int | None = Field(default=None, ge=0)
    bytes: Size | None = None
    sum: SumLimit | None = None


class ActionSettings(Section):
    """One action of a tool: method and path template, shapes of request and response, limits.

    `response_schema` is for every reply that succeeds and has no schema of its own status; `empty_body`
    says whether a request without parameters is judged as an empty object, allowed, or refused.
    """

    method: Text = "POST"
    path: Text = "/**"
    params: Literal["json", "form", "query"] = "json"
    request_schema: Schema | None = None
    response_schema: Schema | None = None
    response_schemas: dict[ReplyStatus, Schema] = Field(default_factory=dict)
    empty_body: Literal["judge", "allow", "refuse"] = "judge"
    limits: LimitSettings = LimitSettings()


class ToolSettings(Section):
    """A tool; its name is a scope."""

    credential: Text | None = None
    base_url: Text | None = None
    ghost_token: bool = True
    idempotency: Text | None = None
    openapi: OptionalPath = None
    actions: dict[str, ActionSettings] = Field(default_factory=dict)


class RuleMatch(Section):
    """What a rule is about; a name that is left out matches everything."""

    host: Text = "*"
    method: Text = "*"
    path: Text = "/**"
    tool: Text | None = None
    action: Text | None = None
    when: Text | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("expected at least one of host, method, path, tool, action, when")
        return self


class RuleSettings(Section):
    """One rule: it denies, or asks for an approval."""

    deny: RuleMatch | None = None
    approve: RuleMatch | None = None
    _untrusted: bool = PrivateAttr(default=False)

    @property
    def untrusted(self) -> bool:
        """Whether it comes from a project's file that nobody has trusted."""
        return self._untrusted

    @model_validator(mode="wrap")
    @classmethod
    def _from_where(cls, value: object, read: ModelWrapValidatorHandler[Self]) -> Self:
        made = read(value)
        if isinstance(value, Untrusted):
            made._untrusted = True  # noqa: SLF001  # ours
        return made

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.deny is None) == (self.approve is None):
            raise ValueError("expected one of deny and approve")
        return self


class WebhookSettings(Section):
    """Where signed notices of events go."""

    url: Text = Field(pattern=r"^https?://")
    on: tuple[Event, ...] = Field(min_length=1)
    secret: Reference | None = None


class TriggerSettings(Section):
    """A program that runs after an event; it never delays an answer and sees no shell."""

    on: Event
    command: tuple[Text, ...] = Field(min_length=1)


class ModelPrice(Section):
    """US dollars per million tokens of one model."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)


class PriceSettings(Section):
    """The price list that usage and budgets refer to by name."""

    name: Text = setting("prices.name")
    models: dict[str, ModelPrice] = Field(default_factory=dict)
