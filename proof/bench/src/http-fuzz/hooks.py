"""Schemathesis converts prefixItems to an older JSON Schema draft and then rejects its own result. This hook therefore
presents the items of a tuple in a response as alternatives. Our own tests check their order."""

import schemathesis


def without_tuples(node):
    if isinstance(node, list):
        return [without_tuples(item) for item in node]
    if not isinstance(node, dict):
        return node
    rewritten = {name: without_tuples(value) for name, value in node.items()}
    tuple_items = rewritten.pop("prefixItems", None)
    if tuple_items is not None:
        rewritten["items"] = {"anyOf": tuple_items}
    return rewritten


@schemathesis.hook
def before_load_schema(context, raw_schema):
    raw_schema["components"] = without_tuples(raw_schema["components"])
