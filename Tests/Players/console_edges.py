#!/usr/bin/env python3
"""What goes wrong while a person uses the console of `upright serve`: wrong input, another person, and a service that goes away.

    console_edges.py UPRIGHT FOLDER

Prints one JSON object: {"error": null, "scenes": {NAME: seconds, or what it measured}}.
Exit code: 0 done, 1 not, 77 Chromium, ffmpeg or Playwright is missing.
"""

import json
import sys
import time

import console_stage
from console_stage import TOKEN, wait

# In Arabic, Chinese, Hindi and Hebrew; a picture; a mark that turns the direction of writing; and what isn't a name.
NAMES = ("\u0627\u0644\u0628\u062b", "\u76f4\u64ad", "\u092a\u094d\u0930\u0938\u093e\u0930\u0923", "\u05e9\u05d9\u05d3\u05d5\u05e8", "\U0001f4f1\U0001f1e9\U0001f1ea",
         "a\u202ebc", "a\u200fb", "a b", ".", "-a", "..", "a/b", "%41", "<b>a</b>", "x" * 65)


def log_in(page, stage):
    page.goto(stage.url)
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def another(page, stage):
    """Returns the page of another person, who is logged in too."""
    other = page.context.browser.new_context().new_page()
    other.expect = page.expect
    log_in(other, stage)
    return other


def wrong_names(page, stage):
    """A name in any script that can't be a part of an address is refused at its field, without a request."""
    expect = page.expect
    log_in(page, stage)
    page.get_by_role("link", name="New session").click()
    sent = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    for name in NAMES:
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_role("button", name="Make the session").click()
        expect(page.locator("#name-error")).to_contain_text("Use 1 to 64 letters from A to Z")
        assert page.evaluate("document.activeElement.id") == "name", name
        # The service has the same opinion.
        answer = page.evaluate("""async name => {
          const { ask } = await import("/console/api.js");
          return ask("POST", "/v1/sessions", { name, input: { whip: {} } }).then(() => "made", error => error.status);
        }""", name)
        assert answer in (400, 422), (name, answer)
    assert len(sent) == len(NAMES), sent
    # Nothing chosen, an address that is none, and a way whose fields are others.
    page.get_by_label("Name", exact=True).fill("one")
    page.get_by_label("It comes from").select_option("pull")
    page.get_by_label("Address of the stream").fill("\u0627\u0644\u0628\u062b")
    page.get_by_label("Play in browsers").uncheck()
    page.get_by_role("button", name="Make the session").click()
    wrong = page.evaluate("[...document.querySelectorAll('[aria-invalid=true]')].map(one => one.id)")
    assert wrong == ["url", "plays"], wrong
    expect(page.locator("#plays-error")).to_contain_text("Choose at least one output.")
    # Addresses that name no session, or aren't encoded.
    for part in ("%D8%A7%D9%84", "%E0%A4", "%", "a%2Fb", "constructor"):
        page.goto(stage.url + "/#/sessions/" + part)
        expect(page.get_by_text("There is no session of this name any more.")).to_be_visible()


def scripts(page, stage):
    """Names of view controllers in any script are shown as they are, and don't reorder the words beside them."""
    expect = page.expect
    names = ["\u0627\u0644\u0631\u0626\u064a\u0633\u064a", "\u4e3b\u753b\u9762", "\U0001f4f1", "ab\u202ecd"]
    policy = {"root": names[0], "controllers": {name: {"supported": ["all"]} for name in names}}
    stage.ask("PATCH", "/v1/sessions/camera", {"policy": policy})
    for name in names[1:]:
        stage.ask("POST", "/v1/sessions/camera/events", {"present": name})
    page.goto(stage.url + "/#/sessions/camera")
    page.get_by_text("Who decides").click()
    badge = page.locator(".tree .badge")
    expect(badge).to_have_text("decides")
    for name in names:
        strong = page.locator(".tree strong").filter(has_text=name)
        expect(strong).to_be_visible()
    # The word stands behind the name, and reads from left to right.
    left = badge.locator("xpath=..").locator("strong").bounding_box()
    assert badge.bounding_box()["x"] > left["x"] + left["width"] - 1
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    stage.ask("PATCH", "/v1/sessions/camera", {"policy": "phone"})


def two_editors(page, stage):
    """Two pages edit one policy: the second one to apply is told, sees the other's, and applies its own only if its user wants that."""
    expect = page.expect
    other = another(page, stage)
    texts = {}
    for one in (page, other):
        one.goto(stage.url + "/#/policy/camera")
        one.reload()
        texts[one] = one.get_by_label("Policy, as JSON")
        expect(texts[one]).to_have_value(console_stage.re.compile("controllers"))

    def apply(one, supported, said):
        texts[one].fill(json.dumps({"controllers": {"main": {"supported": [supported]}}}))
        expect(texts[one]).to_have_attribute("aria-invalid", "false")
        one.get_by_role("button", name="Apply to camera").click()
        expect(one.locator(".said")).to_contain_text(said)

    def supported():
        return stage.ask("GET", "/v1/sessions/camera/policy")["policy"]["controllers"]["main"]["supported"]

    apply(page, "landscape", "Applied.")
    theirs = supported()
    apply(other, "portrait", "Somebody else has changed the policy")
    assert supported() == theirs
    other.get_by_role("button", name="Show the other policy").click()
    expect(texts[other]).to_be_focused()
    assert json.loads(texts[other].input_value())["controllers"]["main"]["supported"] == theirs
    expect(other.get_by_role("button", name="Apply mine all the same")).to_be_hidden()
    apply(other, "portrait", "Applied.")
    # Twice in a row needs no second look.
    apply(other, "all", "Applied.")
    apply(page, "portrait", "Somebody else has changed the policy")
    page.get_by_role("button", name="Apply mine all the same").click()
    expect(page.locator(".said")).to_contain_text("Applied.")
    assert supported() == ["portrait"], supported()
    other.context.close()
    stage.ask("PATCH", "/v1/sessions/camera", {"policy": "phone"})


def deleted(page, stage):
    """A session that is deleted while it is open says so, and its editor, too; one of the same name that is made then is shown."""
    expect = page.expect
    request = {"name": "guest", "input": {"url": "rtmp://127.0.0.1:%d/live/guest-key-1" % stage.rtmp}}
    stage.ask("POST", "/v1/sessions", request)
    page.goto(stage.url + "/#/sessions/guest")
    expect(page.get_by_role("heading", level=1)).to_contain_text("guest waiting")
    editor = another(page, stage)
    editor.goto(stage.url + "/#/policy/guest")
    expect(editor.get_by_label("Policy, as JSON")).to_have_value(console_stage.re.compile("controllers"))
    stage.forget("guest")
    expect(page.get_by_text("There is no session of this name any more.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop session")).to_be_hidden()
    editor.get_by_role("button", name="Apply to guest").click()
    expect(editor.locator(".said")).to_contain_text("there is no session")
    editor.context.close()
    stage.ask("POST", "/v1/sessions", request)
    expect(page.get_by_role("heading", level=1)).to_contain_text("guest waiting")
    expect(page.get_by_text("There is no session of this name any more.")).to_be_hidden()
    # One that the page itself stops and deletes twice.
    stage.ask("DELETE", "/v1/sessions/guest")
    expect(page.get_by_role("button", name="Delete session")).to_be_visible()
    stage.ask("DELETE", "/v1/sessions/guest")


def many(page, stage):
    """Two hundred sessions: the list shows them, stays quick, and finds one by a part of its name."""
    expect = page.expect
    for number in range(200):
        stage.ask("POST", "/v1/sessions", {
            "name": "guest-%03d" % number, "input": {"url": "rtmp://127.0.0.1:%d/live/guest-key-%03d" % (stage.rtmp, number)}})
    start = time.monotonic()
    page.goto(stage.url + "/#/")
    expect(page.get_by_role("link", name="guest-199")).to_be_attached()
    shown = round(time.monotonic() - start, 2)
    expect(page.get_by_text("201 sessions")).to_be_visible()
    assert page.locator(".card").count() == 201
    # The longest time for which the page does nothing else, over three updates.
    longest = page.evaluate("""() => new Promise(done => {
      let last = performance.now(), longest = 0;
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 4);
      setTimeout(() => { clearInterval(timer); done(Math.round(longest)); }, 6500);
    })""")
    find = page.get_by_label("Find a session")
    find.fill("ST-15")
    wait(page, "[...document.querySelectorAll('.card')].filter(one => one.checkVisibility()).length === 10")
    find.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("guest-150")
    for number in range(200):
        stage.forget("guest-%03d" % number)
    page.get_by_role("link", name="Sessions", exact=True).click()
    expect(page.locator(".card")).to_have_count(1)
    expect(find).to_be_hidden()
    return {"shown": shown, "longest_ms": longest}


def restarted(page, stage):
    """The service ends and starts again under the page: it says that nothing answers, asks for the token, and shows the same session."""
    expect = page.expect
    page.goto(stage.url + "/#/sessions/camera")
    expect(page.get_by_role("heading", level=1)).to_contain_text("camera live")
    wait(page, "document.querySelector('.stage video')?.currentTime > 0.5")
    stage.end()
    expect(page.get_by_text("The service doesn't answer.").first).to_be_visible()
    stage.begin()
    expect(page.get_by_label("Admin token")).to_be_visible()
    # A session that nobody has declared is gone with the service.
    page.get_by_label("Admin token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no session of this name any more.")).to_be_visible()
    stage.leave()
    stage.publish("camera")
    expect(page.get_by_role("heading", level=1)).to_contain_text("camera live")
    wait(page, "document.querySelector('.stage video')?.currentTime > 0.5")


SCENES = (wrong_names, scripts, two_editors, deleted, many, restarted)

if __name__ == "__main__":
    sys.exit(console_stage.main(SCENES, {"UPRIGHT_MAX_WAITING": "300"}))
