"""Checks JSON against a schema of docs/schemas, and that the schema knows every key: a schema allows others, since new keys may come.
Usage: schemas.py SCHEMA FILE [lines]; with "lines", each line of the file is a value. Needs python3-jsonschema."""

import json
import sys

import jsonschema


def strict(schema):
    """The schema with no other keys than those that it names."""
    if isinstance(schema, dict):
        changed = {k: strict(v) for k, v in schema.items()}
        if "properties" in schema:
            changed.setdefault("additionalProperties", False)
        return changed
    return [strict(v) for v in schema] if isinstance(schema, list) else schema


schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
text = open(sys.argv[2]).read()
values = [json.loads(line) for line in text.splitlines()] if len(sys.argv) > 3 else [json.loads(text)]
assert values and values != [[]], "nothing to check"
for value in values:
    for error in jsonschema.Draft202012Validator(strict(schema)).iter_errors(value):
        sys.exit("%s: %s" % ("/".join(map(str, error.absolute_path)), error.message[:200]))
