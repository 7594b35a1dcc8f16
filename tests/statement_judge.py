"""Judges an in-toto statement: statement_judge.py WHEEL STATEMENT.

in-toto-attestation's own classes read and validate it where they are installed; what SLSA's specification of the
predicate requires is checked here, and the digests with hashlib.
"""

import hashlib
import json
import sys


def fail(what):
    sys.exit(f"FAILED: {what}")


wheel, path = sys.argv[1:]
document = json.load(open(path))
try:
    from google.protobuf import json_format
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as Message

    message = json_format.ParseDict(document, Message())
    judge = Statement.copy_from_pb(message)
    judge.validate()
    from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
    from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor

    provenance = json_format.ParseDict(document["predicate"], Provenance())  # rejects unknown names
    for dependency in provenance.build_definition.resolved_dependencies:
        ResourceDescriptor.copy_from_pb(dependency).validate()
    print("in-toto-attestation: valid")
except ImportError as error:
    print("not judged by in-toto-attestation:", error)

if document["_type"] != "https://in-toto.io/Statement/v1" or document["predicateType"] != "https://slsa.dev/provenance/v1":
    fail("types")
[subject] = document["subject"]
if subject["name"] != wheel.rsplit("/", 1)[-1]:
    fail("the subject's name")
if subject["digest"]["sha256"] != hashlib.sha256(open(wheel, "rb").read()).hexdigest():
    fail("the subject's digest")
definition, run = document["predicate"]["buildDefinition"], document["predicate"]["runDetails"]
for name in ("buildType", "externalParameters", "internalParameters", "resolvedDependencies"):
    if not definition.get(name):
        fail(f"no {name}")
if not run["builder"]["id"]:
    fail("no builder")
