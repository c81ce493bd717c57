"""Prints the public API of sdk-python as Markdown, from signatures and docstrings. Imports nothing of it."""

import ast
import inspect
import sys
from pathlib import Path

PACKAGE = Path(sys.argv[1])


def parse(name):
    return ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))


def public_names():
    """The names of __all__ with the modules that define them, in the order of the imports."""
    return [
        (alias.name, node.module)
        for node in parse("__init__").body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    ]


def definition(module, name):
    for node in parse(module).body:
        if getattr(node, "name", None) == name:
            return node
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(getattr(target, "id", None) == name for target in targets):
                return node
    raise SystemExit(f"{name} is not in {module}.py")


def signature(node):
    """The function without its body, as Python."""
    arguments = ast.unparse(node.args)
    for self in ("self, ", "self", "cls, ", "cls"):
        arguments = arguments.removeprefix(self)
    arguments = spaced(arguments)
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    line = f"{prefix} {node.name}({arguments}){returns}: ..."
    if len(line) <= 100:
        return line
    parts = "".join(f"    {part},\n" for part in split(arguments))
    return f"{prefix} {node.name}(\n{parts}){returns}: ..."


def constructor_of(node, constructor):
    inner = signature(constructor).replace("\n", "\n    ")
    inner = inner.replace("__init__(\n", "__init__(\n        self,\n", 1)
    return f"class {node.name}:\n    {inner.replace(' -> None', '')}"


def spaced(arguments):
    """ast.unparse writes `x: int=1`."""
    return ", ".join(
        part.replace("=", " = ", 1) if ": " in part else part for part in split(arguments)
    )


def name_of(text):
    return text.split("def ")[1].split("(")[0]


def split(arguments):
    """Splits at commas outside brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def document(text):
    """Docstrings use ``double`` backticks; Markdown needs one."""
    return inspect.cleandoc(text or "").replace("``", "`")


def code(text):
    return ["```python", text, "```", ""]


def fields(node):
    """The documented fields of a dataclass, as rows."""
    for at, item in enumerate(node.body):
        if not isinstance(item, ast.AnnAssign) or item.target.id.startswith("_"):
            continue
        after = node.body[at + 1] if at + 1 < len(node.body) else None
        is_doc = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        about = " ".join(document(after.value.value).split()) if is_doc else ""
        kind = ast.unparse(item.annotation).replace("|", "\\|")
        yield f"| `{item.target.id}` | `{kind}` | {about} |"


def methods(node):
    for item in node.body:
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorators = {ast.unparse(each) for each in item.decorator_list}
        is_private = item.name.startswith("_") or item.name == "from_wire"
        if is_private or "override" in decorators:
            continue
        about = document(ast.get_docstring(item))
        if "property" in decorators:
            returns = ast.unparse(item.returns)
            yield f"`{item.name}: {returns}`", about
        else:
            yield None, (signature(item), about)


def render_class(node):
    lines = [document(ast.get_docstring(node)), ""]
    constructor = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
    # open_stream makes streams.
    if constructor is not None and node.name != "SvcStream":
        lines += code(constructor_of(node, constructor))
    rows = list(fields(node))
    if rows:
        lines += ["| field | type | meaning |", "|---|---|---|", *rows, ""]
    for title, content in methods(node):
        if title is None:
            text, about = content
            lines += [f"#### {node.name}.{name_of(text)}", "", *code(text)]
            if about:
                lines += [about, ""]
        else:
            lines += [f"{title}. {content}".rstrip(". ") + ".", ""]
    return lines


def resources(client):
    """Classes that SvcClient makes, such as Models, under the names of its attributes."""
    constructor = next(each for each in client.body if getattr(each, "name", "") == "__init__")
    for item in constructor.body:
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Call):
            maker = getattr(item.value.func, "id", "")
            if maker[:1].isupper() and ast.unparse(item.value) == f"{maker}(self)":
                yield item.targets[0].attr, definition("client", maker)


def render(name, module):
    node = definition(module, name)
    lines = [f"### {name}", ""]
    if isinstance(node, ast.ClassDef):
        lines += render_class(node)
        if name == "SvcClient":
            for attribute, resource in resources(node):
                for _, (text, about) in methods(resource):
                    lines += [f"#### SvcClient.{attribute}.{name_of(text)}", "", *code(text), about, ""]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        lines += [*code(signature(node)), document(ast.get_docstring(node)), ""]
    else:
        lines += code(ast.unparse(node))
    return lines


GROUPS = {
    "Functions and classes": lambda module: module not in ("wire", "_events", "_transcript", "_close"),
    "Results and events": lambda module: module in ("_events", "_transcript", "_close"),
    "The wire": lambda module: module == "wire",
}

print("# Python API\n")
print("`npm run docs` writes this page from the signatures and docstrings of `svc_asr`. The")
print("[README](../../clients/sdk-python/README.md) shows how to use it, and [SDK errors](sdk-errors.md) lists the codes of `SvcError`.\n")
for group, belongs in GROUPS.items():
    print(f"## {group}\n")
    for name, module in public_names():
        if belongs(module):
            text = "\n".join(render(name, module)).strip()
            while "\n\n\n" in text:
                text = text.replace("\n\n\n", "\n\n")
            print(text + "\n")
