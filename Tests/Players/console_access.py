"""What pages owe people who use the keyboard or a screen reader, or see little contrast (WCAG 2.2). For Playwright's pages."""

# The texts whose contrast (1.4.3) is below 4.5. Disabled controls are exempt.
CONTRAST = r"""() => {
  const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const parse = text => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], base) => [r, g, b].map((c, index) => c * a + base[index] * (1 - a));
  const stack = colours => colours.reverse().reduce((base, colour) => over(colour, base), [255, 255, 255]);
  const colours = element => {
    const style = getComputedStyle(element);
    // The painted shapes of a drawing, and the boxes of the page.
    return parse(element instanceof SVGGeometryElement ? style.fill : style.backgroundColor);
  };
  const ancestors = element => {
    const all = [];
    for (let one = element; one; one = one.parentElement) all.push(colours(one));
    return stack(all);
  };
  // What is painted below a text in a drawing, which doesn't depend on its ancestors.
  const below = element => {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = element.getBoundingClientRect();
    const all = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return stack(all.slice(all.indexOf(element) + 1).map(colours));
  };
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    if (!text || element.closest("script, style, noscript, [hidden], title, :disabled") || !element.checkVisibility()) continue;
    const isDrawn = element instanceof SVGElement, style = getComputedStyle(element);
    const base = isDrawn ? below(element) : ancestors(element);
    const front = over(parse(isDrawn ? style.fill : style.color), base);
    const [high, low] = [luminance(front), luminance(base)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    count++;
    if (ratio < 4.5) found.push(text.slice(0, 30) + ": " + ratio.toFixed(2));
  }
  scrollTo(0, 0);
  return { count, found };
}"""
# Puts the focus before the first control.
START = """() => {
  window.stops = [];
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}"""
# What the tab key has reached: null at the end.
STOP = """() => {
  const now = document.activeElement, before = stops.at(-1);
  if (now === document.body || now === document.documentElement || now === stops[0]) return null;
  stops.push(now);
  const box = now.getBoundingClientRect(), style = getComputedStyle(now);
  return {
    isInside: !!before?.contains(now),
    follows: !before || !!(before.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING),
    isMarked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    box: [box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY]
  };
}"""
# The number of controls that the tab key should reach: of a group of radio buttons the chosen one.
CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter(one =>
  one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0 && !(one.type === "radio" && !one.checked)
).length"""


def contrast(page, schemes=("light", "dark")):
    """Returns the texts with too little contrast, and fails if there is no text."""
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        result = page.evaluate(CONTRAST)
        assert result["count"] > 0, "no text"
        found += ["%s: %s" % (scheme, text) for text in result["found"]]
    page.emulate_media(color_scheme="light")
    return found


def walk(page, most=150):
    """Presses the tab key from the page's start to its end. Returns ["ROLE NAME", ...] of the controls, as the accessibility tree
    has them, and what is wrong: a control that isn't reached, has no name or no mark of the focus, comes before one that
    precedes it in the document, or is above or left of it."""
    tools = page.context.new_cdp_session(page)
    controls, faults, before = [], [], None
    page.evaluate(START)
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None:
            break
        place = tools.send("Runtime.evaluate", {"expression": "document.activeElement"})["result"]["objectId"]
        node = tools.send("Accessibility.getPartialAXTree", {"objectId": place, "fetchRelatives": False})["nodes"][0]
        role, name = (node.get(key, {}).get("value", "") for key in ("role", "name"))
        control = ("%s %s" % (role, name)).strip()
        if not name or node.get("ignored") or role in ("", "none", "generic"):
            faults.append("%s has no name or role" % (control or "a control"))
        if not stop["isMarked"]:
            faults.append(control + ": the focus isn't visible")
        if not stop["follows"]:
            faults.append("%s precedes %s in the document" % (control, controls[-1]))
        left, top = stop["box"][:2]
        # Below the one before it, or right of it: in the next column.
        if before and not stop["isInside"] and top < before[3] - 1 and left < before[2] - 1:
            faults.append("%s is above or left of %s" % (control, controls[-1]))
        before = stop["box"]
        controls.append(control)
    tools.detach()
    wanted = page.evaluate(CONTROLS)
    if wanted != len(controls):
        faults.append("%d of %d controls are reached" % (len(controls), wanted))
    return controls, faults
