"""The policy alone."""

import json

import pytest
from conftest import ROOT
from upright_policy import Format, Policy, UprightError, explain

POLICIES = ROOT / "Samples" / "policies"
SAMPLES = sorted(path.name.removesuffix(".expected.json") for path in POLICIES.glob("*.expected.json"))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_decided_as_expected(name):
    policy = json.loads((POLICIES / f"{name}.json").read_text())
    events = (POLICIES / f"{name}.jsonl").read_text()
    expected = json.loads((POLICIES / f"{name}.expected.json").read_text())["decisions"]
    decided = explain(policy, events)["events"]
    assert [{key: decision.get(key) for key in wanted} for decision, wanted in zip(decided, expected)] == expected
    assert len(decided) == len(expected)


def test_a_policy_over_time():
    with Policy("phone") as policy:
        policy.event({"at": 1, "device": "landscapeLeft"})
        policy.event([{"at": 2, "device": "faceUp"}, {"at": 3, "device": "portrait"}])
        policy.event('{"at": 4, "device": "landscapeRight"}\n\n')
        decided = policy.take()
        policy.finish()
        assert policy.format(0.5) == Format("portrait", True, (720, 1280), (720, 1280))
        assert policy.format(3.5).app_orientation == "portrait"
        assert policy.format(9) == Format("landscapeLeft", True, (1280, 720), (1280, 720))
        rest = policy.take()
        assert [decision["decision"] for decision in decided["events"] + rest["events"]] == [
            "rotate", "keep", "rotate", "rotate"]
        assert [change["encodeResolution"] for change in decided["formats"] + rest["formats"]] == [
            "720x1280", "1280x720", "720x1280", "1280x720"]
        policy.advance(9)
        assert policy.take() == {"events": [], "formats": []}


def test_misuse():
    policy = Policy()
    policy.event({"at": 5, "device": "landscapeLeft"})
    for code, call in (
        ("badData", lambda: policy.event({"at": 1, "device": "portrait"})),
        ("badData", lambda: policy.event("garbage")),
        ("usage", lambda: policy.event("\0")),
        ("usage", lambda: policy.advance(float("nan"))),
        ("usage", lambda: policy.format(float("nan"))),
        ("usage", lambda: Policy("nobody's")),
        ("badData", lambda: explain("phone", "garbage")),
        ("badData", lambda: explain({"start": []})),
    ):
        with pytest.raises(UprightError) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(TypeError):
        policy.event(7)
    with pytest.raises(TypeError):
        Policy(["phone"])
    with pytest.raises(TypeError):
        Policy(None)
    policy.close()
    with pytest.raises(UprightError, match="closed"):
        policy.take()
