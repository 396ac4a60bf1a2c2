"""The decision core: targets, scopes, tools, rules, schemas, hook runners."""
