"""The policy of one session: scopes, rules, schemas and hooks in one place, plain values in and out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ghost_core.settings import Settings
from ghost_hooks.account import Account
from ghost_hooks.decision import Decision
from ghost_hooks.fingerprint import RULES, Fingerprint
from ghost_hooks.folder import Listing, Stage
from ghost_hooks.gates import ExtraHook, Gates, failed, reading, until_denied
from ghost_hooks.grants import Grant, Grants
from ghost_hooks.known import Known, require_credentials
from ghost_hooks.override import asks_otherwise
from ghost_hooks.pattern import is_method
from ghost_hooks.posting import Poster
from ghost_hooks.request import Reply, Request, Verdict
from ghost_hooks.rules import Rule, RuleFolder, from_settings
from ghost_hooks.runner import HookRunner
from ghost_hooks.scope import Scope, split
from ghost_hooks.target import REMEMBERED, Target
from ghost_hooks.tools import Catalogue

STAGES: tuple[Stage, Stage] = ("pre", "post")
_NAMED_LIMIT = 5
_DECISIONS_LIMIT = 1024


class Policy:
    """Judges every request of a session; deny wins, no scope allows nothing, a failure refuses.

    Raises: ConfigError for a broken tool, rule or schema or a name that points nowhere, UsageError
    for a scope of bad grammar.
    """

    def __init__(self, settings: Settings, scopes: Sequence[str]) -> None:
        self.scopes = tuple(Scope.parse(text) for text in split(scopes))
        self.catalogue = Catalogue.from_settings(settings)
        self.runner = HookRunner(
            settings.hooks.dir, settings.hooks.timeout_seconds, poster=Poster.of(settings)
        )
        self._grants = Grants.compile(self.catalogue, self.scopes)
        self._rules = from_settings(settings.rules)
        self._folder = RuleFolder(settings.hooks.dir / RULES)
        require_credentials(settings)
        self._known = Known.of(self.catalogue)
        self._known.require((*self._rules, *self._folder.current()))
        texts = [scope.text for scope in self.scopes]
        self._fingerprint = Fingerprint(settings, self.catalogue, texts)
        self._decided_under: tuple[Listing, tuple[Rule, ...]] | None = None
        self._decisions: dict[tuple[str, Target, tuple[str, str] | None], Decision] = {}

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the policy in force now, hook files included."""
        return self._fingerprint.hex()

    def reachable(self, target: Target) -> Verdict:
        """Judge scheme, host and port alone, before a tunnel is opened; path and query do not count."""
        if self._grants.reaching(target):
            return Verdict.yes("scope", "host")
        return _unnamed(target)

    def way_to(self, target: Target) -> str:
        """Say how a human lets a session reach a host; a client that is refused a tunnel names no path."""
        tools = [tool for tool, _ in self.catalogue.match("GET", target)]
        return _grantable([*tools, f"GET {target.scheme}://{target.authority}/**"])

    def judge(
        self, method: str, target: Target, *, wanted: tuple[str, str] | None = None
    ) -> Decision:
        """Decide about a request line; whatever fails in here is a refusal.

        `wanted` is the tool and action that `ghost act` declares; only that tool can allow it then.
        """
        try:
            return self._remembered(method, target, wanted)
        except Exception as error:  # noqa: BLE001  # a gate that fails refuses
            return _refused(
                failed(error), method, target, "ask the operator to look at the proxy's log"
            )

    async def before(
        self,
        decision: Decision,
        request: Request,
        session: Mapping[str, object],
        action_id: str,
        *,
        extra_hooks: Sequence[ExtraHook] = (),
        account: Account | None = None,
    ) -> tuple[Verdict, ...]:
        """Judge a request before anything is sent; the first refusal is the last verdict.

        Call it for every request: what needs no body (method overrides) is judged here as well.
        A limited call takes what it uses from the session's `account` here, and keeps it only once its
        intent is entered; without an account it is refused.
        """
        if decision.grant is None:
            return (_standing(decision),)
        if decision.plain and not extra_hooks:
            override = await reading(request, lambda: asks_otherwise(request))
            return () if override is None else (override,)
        walk = Gates(
            self.runner, decision, decision.grant, session, action_id, extra_hooks, account
        )
        return await until_denied(walk.before(request))

    async def after(
        self,
        decision: Decision,
        request: Request,
        reply: Reply,
        *,
        session: Mapping[str, object],
        action_id: str,
        extra_hooks: Sequence[ExtraHook] = (),
    ) -> tuple[Verdict, ...]:
        """Judge a reply before the agent sees it; of a stream (`body` None) a refusal is a flag."""
        if decision.grant is None:
            return (_standing(decision),)
        walk = Gates(self.runner, decision, decision.grant, session, action_id, extra_hooks)
        return await until_denied(walk.after(request, reply))

    def _remembered(self, method: str, target: Target, wanted: tuple[str, str] | None) -> Decision:
        """Return what was decided about the same request line under the same files, or decide."""
        listing = self.runner.folder.listing()
        rules = self._rules
        if RULES in listing.names:
            rules += self._folder.current()
        files = (listing, rules)
        if files != self._decided_under:
            self._known.require(rules)
            self._decided_under = files
            self._decisions.clear()
        key = (method, target, wanted)
        known = self._decisions.get(key)
        if known is None:
            known = self._judged(method, target, wanted, listing, rules)
            if not listing.names:
                known = replace(known, policy=self.hash)
            if len(self._decisions) < _DECISIONS_LIMIT and len(target.path_and_query) <= REMEMBERED:
                self._decisions[key] = known
        return known

    def _judged(
        self,
        method: str,
        target: Target,
        wanted: tuple[str, str] | None,
        listing: Listing,
        rules: tuple[Rule, ...],
    ) -> Decision:
        if not is_method(method):
            verdict = Verdict.no(
                "scope", "method", "the method cannot be judged", code="request.method", status=400
            )
            return _refused(verdict, "?", target, "send a method in upper-case letters")
        grant = self._grants.find(method, target, wanted=wanted)
        if grant is None:
            return self._uncovered(method, target, wanted)
        name = (grant.tool or target.host, grant.action or method)
        matching = self._matching(rules, method, target, name) if rules else ()
        for rule in matching:
            if rule.condition is None:
                hint = f"a human can change rule {rule.name}"
                return _refused(rule.refusal(), method, target, hint)
        return _allowed(grant, name, listing, matching)

    def _matching(
        self, rules: Sequence[Rule], method: str, target: Target, name: tuple[str, str]
    ) -> tuple[Rule, ...]:
        """Return the rules about a call; one that names a tool holds however the call is allowed."""
        names = [name]
        if any(rule.named for rule in rules):
            known = self.catalogue.match(method, target)
            names += [(tool, action or method) for tool, action in known]
        return tuple(
            rule for rule in rules if any(rule.match(method, target, *each) for each in names)
        )

    def _uncovered(self, method: str, target: Target, wanted: tuple[str, str] | None) -> Decision:
        """Refuse, and say what would be allowed and how a human grants the rest."""
        named = self._grants.reaching(target)
        known = self.catalogue.match(method, target) if wanted is None else [wanted]
        tools = [f"{tool}:{action}" if self._has(tool, action) else tool for tool, action in known]
        tools.append(f"{method} {target.scheme}://{target.authority}{target.path}")
        hint = _grantable(tools)
        if not named:
            return _refused(_unnamed(target), method, target, hint)
        shown = list(dict.fromkeys(_shown(grant) for grant in named))
        listed = ", ".join(shown[:_NAMED_LIMIT])
        reason = (
            f"{method} on this path of {target.authority} is in no scope; allowed there: {listed}"
        )
        verdict = Verdict.no("scope", "none", reason, code="scope.action")
        return _refused(verdict, method, target, hint)

    def _has(self, tool: str, action: str | None) -> bool:
        return action in self.catalogue.actions.get(tool, {})


def _allowed(
    grant: Grant, name: tuple[str, str], listing: Listing, conditional: tuple[Rule, ...]
) -> Decision:
    before, after = (bool(listing.find(*name, stage)) for stage in STAGES)
    return Decision(
        (Verdict.yes("scope", grant.scope),),
        allowed=True,
        tool=name[0],
        action=name[1],
        credential=grant.credential,
        needs_body=before or bool(conditional) or grant.reads_body,
        plain=not (before or conditional or grant.reads_body),
        needs_reply=after or bool(grant.replies),
        ghost_token=grant.ghost_token,
        raw=not grant.tool,
        grant=grant,
        conditional=conditional,
    )


def _standing(decision: Decision) -> Verdict:
    """Return the refusal of a decision that allows nothing."""
    return decision.denial or failed(LookupError())


def _unnamed(target: Target) -> Verdict:
    reason = f"no scope names {target.scheme}://{target.authority}"
    return Verdict.no("scope", "none", reason, code="scope.host")


def _grantable(scopes: Sequence[str]) -> str:
    # No command: an agent that reads one runs it.
    return f"a human can grant it, to another session: scope {shlex.quote(scopes[0])}"


def _shown(grant: Grant) -> str:
    """Return what may be called, for the agent: an action, a tool without actions, or a raw scope."""
    if not grant.tool:
        return grant.scope
    return f"{grant.tool}:{grant.action}" if grant.action else grant.tool


def _refused(verdict: Verdict, method: str, target: Target, hint: str) -> Decision:
    return Decision((verdict,), allowed=False, tool=target.host, action=method, hint=hint)
