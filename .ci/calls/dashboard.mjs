// Works with the dashboard of a server of the sample network: dashboard.mjs ADMIN SHOTS PUBLIC TOKEN [IMAGES].
import assert from "node:assert/strict";
import { audit, close, narrow, open, server, shot, test } from "./browser.mjs";

const [, , , , site, token, images] = process.argv;
// The network has no page that says "loses messages": its documentation drops them, and its answers speak of faults.
const bad = "see how my app behaves when the network loses messages";
const wanted = "docs/handbook/build/testing.mdx";
const answers = "How do I test what happens when the relay misbehaves?";

const page = await open();
const state = await (async () => {
  await test("who has no session is asked to log in, and comes back to the page", async () => {
    await page.goto("/lab?q=traffic");
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Token").fill("not the token");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL("**/lab?q=traffic");
  });
  return page.context().storageState();
})();

// picture writes an image for the documentation.
async function picture(name, of = page) {
  if (!images) return;
  await page.evaluate(() => document.activeElement?.blur());
  await of.screenshot({ path: `${images}/${name}.png` });
}

// live is the titles of the results that everybody gets.
async function live(query) {
  const answer = await fetch(`${site}/api/v1/search?q=${encodeURIComponent(query)}`);
  return (await answer.json()).items.map((hit) => hit.title);
}

// says waits until the page says something: a click returns before the next page is there.
const says = (pattern) => page.waitForFunction((p) => new RegExp(p).test(document.querySelector("main")?.innerText),
  pattern.source);

// until asks again until an answer is as it should be. What is published is in force within seconds; a minute is for
// busy machines.
async function until(what, ask) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await ask()) return;
    await page.waitForTimeout(250);
  }
  assert.fail(what);
}

// ended waits until what the page shows as under way is over; the page looks again by itself.
const ended = () => page.waitForFunction(() => document.readyState === "complete"
  && !document.querySelector("[data-running]"), undefined, { timeout: 120_000 });

await test("a query of the case is bad, and the lab says why a record is not there", async () => {
  await page.goto("/lab");
  await page.getByLabel("Query").fill(bad);
  await page.locator("select[name=b]").selectOption("vector-only");
  await page.getByRole("button", { name: "Compare" }).click();
  const left = page.getByRole("region", { name: "live" });
  assert.ok(Number(await left.getByText("nDCG@10").locator("b").innerText()) < 0.1);
  await picture("lab");
  await left.locator("summary", { hasText: "Why here" }).first().click();
  assert.match(await left.locator("article").first().innerText(), /dense/i);
  await page.getByLabel("Record").fill(wanted);
  await page.getByRole("button", { name: "Ask" }).click();
  const why = page.locator("section.col", { hasText: "Testing contracts" }).first();
  await says(/no word of the query, and its cosine .* is below the floor/);
  await why.scrollIntoViewIfNeeded();
  await picture("why", why);
});

await test("results are graded by keys, and both sides are measured at once", async () => {
  const figures = () => page.locator(".lab header b").allInnerTexts();
  const shown = async (was) => page.waitForFunction((was) => [...document.querySelectorAll(".lab header b")]
    .map((b) => b.innerText).join() !== was.join(), was);
  await page.goto(`/lab?q=${encodeURIComponent(bad)}`);
  const was = await figures();
  for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
  const row = await page.evaluate(() => document.activeElement.id);
  assert.match(row, /^a-/);
  await page.keyboard.press("3");
  await shown(was);
  assert.equal(await page.evaluate(() => document.activeElement.id), row, "the focus moves");
  const now = await figures();
  await page.keyboard.press("3");
  await shown(now);
  assert.deepEqual(await figures(), was);
  for (const checked of [false, true]) {
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keys" });
    await dialog.getByLabel("Keys do this").setChecked(checked);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.matches("[data-row]")), checked);
  }
});

await test("weights are drawn, and measured on the case while one looks", async () => {
  await page.goto(`/lab?q=${encodeURIComponent(bad)}&b=live`);
  await page.locator("summary", { hasText: "Right: the weights" }).click();
  const slider = page.getByRole("slider", { name: /^Dense/ });
  await slider.focus();
  for (let n = 0; n < 40; n++) await page.keyboard.press("ArrowLeft");
  await page.getByRole("region", { name: "edited" }).locator(".move").first().waitFor();
  await says(/On\s+all 80 queries of[\s\S]*nDCG@10/);
  await says(/save it as a revision\s+first/);
  await page.goto(`/lab?q=${encodeURIComponent(bad)}&b=live`);
  await page.getByRole("link", { name: "Address to share" }).click();
  await page.waitForURL(/a=configured&b=configured/);
});

await test("the pool of both sides is judged by keys, taken back, and completed by a search", async () => {
  await page.goto(`/lab?q=${encodeURIComponent(bad)}&b=vector-only`);
  await page.getByRole("link", { name: "Judge this pool" }).click();
  await page.waitForURL(/\/judge\?/);
  assert.equal(await page.locator("h1").innerText(), bad);
  const done = async () => Number(/^(\d+) of/.exec(await page.locator(".said b").innerText())[1]);
  const before = await done();
  await picture("judge");
  const press = (key) => Promise.all([page.waitForEvent("load"), page.keyboard.press(key)]);
  await press("0");
  assert.equal(await done(), before + 1);
  await press("u");
  assert.equal(await done(), before);
  await press("0");
  await page.getByRole("textbox", { name: "Search" }).fill("fault drop");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("complementary", { name: "The pool" }).getByRole("link", { name: "Testing contracts" }).first()
    .click();
  await page.locator("article h2", { hasText: "Testing contracts" }).waitFor();
  await press("3");
  await page.goto("/cases");
  await page.getByText("person/ada").first().waitFor();
});

// evaluate measures profiles on the case and opens the comparison.
async function evaluate(...profiles) {
  await page.goto("/evaluation/new");
  for (const [i, name] of profiles.entries()) await page.locator("select[name=profile]").nth(i).selectOption(name);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/\/evaluation\?/);
  await ended();
  await page.locator("main a[href^='/evaluation/runs']").first().click();
  await page.waitForURL(/\/evaluation\/runs/);
}

await test("an evaluation compares profiles by class and by query", async () => {
  await evaluate("live", "keyword-only");
  await says(/keyword-only[\s\S]*worse/);
  assert.ok(await page.getByRole("link", { name: "lab" }).count() >= 80);
  await picture("evaluation");
});

await test("a fit keeps what is live unless its gain is significant", async () => {
  await page.goto("/profiles/fit");
  await page.getByRole("button", { name: "Fit" }).click();
  await page.waitForURL(/\/profiles\/fit\//);
  await ended();
  await page.getByText("kept", { exact: true }).waitFor();
  await picture("fit");
});

await test("a synonym is previewed, published and live", async () => {
  assert.ok(!(await live(bad)).includes(answers));
  await page.goto("/rules");
  await page.getByLabel("Spelling").fill("loses messages");
  await page.getByLabel("Others, with commas").fill("relay misbehaves, faults");
  await page.getByRole("button", { name: "Preview" }).click();
  const change = page.getByRole("region", { name: "What changes" }).filter({ hasText: bad });
  assert.match(await change.innerText(), /How do I test what happens/);
  await says(/What it is worth\s+sample: 0\.6\d+ → 0\.6/i);
  await picture("synonym", change);
  await page.getByLabel("Why").fill("what people call faults");
  await page.getByRole("button", { name: "Publish" }).click();
  await says(/synonyms@1 is live/);
  await until("the synonym is not live", async () => (await live(bad)).includes(answers));
});

await test("a form that fails keeps what was typed", async () => {
  await page.goto(`/rules/pins/edit?q=${encodeURIComponent(bad)}`);
  await page.getByLabel("Note").fill("because");
  await page.getByLabel("Another record").fill("doc:none");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Note").inputValue(), "because");
  assert.equal(await page.evaluate(() => document.activeElement.value), "doc:none");
});

await test("a profile is tried in the lab, saved, measured, published, live, and rolled back", async () => {
  const was = await live(bad);
  await page.goto(`/lab?q=${encodeURIComponent(bad)}`);
  await page.locator("summary", { hasText: "Right: the profile as YAML" }).click();
  const text = page.locator("textarea[name=yaml-b]");
  const keywords = await text.inputValue();
  await page.locator("select[name=b]").selectOption("live");
  await page.waitForFunction((was) => document.querySelector("textarea[name=yaml-b]").value !== was, keywords);
  const yaml = await text.inputValue();
  await text.fill(yaml.replace("rank_k: 60", "rank_k: many"));
  await page.getByRole("button", { name: "Compare" }).click();
  await says(/line \d+: rank_k must be a number/);
  assert.match(await text.inputValue(), /rank_k: many/);
  await text.fill(yaml.replace(/alias_weight: .*/, "alias_weight: 0.6"));
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("region", { name: "edited" }).locator(".move").first().waitFor();
  assert.equal(new URL(page.url()).search, "");
  await picture("edited");
  await page.locator("input[name=name]").fill("default");
  await page.locator("input[name=note]").fill("other spellings weigh more");
  await page.getByRole("button", { name: "Save as a revision" }).click();
  await page.waitForURL(/b=default%401/);
  await evaluate("live", "default@1");
  await says(/default@1/);
  await page.goto("/profiles");
  await page.getByRole("link", { name: "Publish default@1" }).click();
  await says(/What was measured[\s\S]*sample[\s\S]*(clear|better|worse)/);
  await page.getByRole("button", { name: "Publish default@1" }).click();
  await says(/default@1 is live/);
  await picture("profiles");
  await until("the revision is not live", async () => JSON.stringify(await live(bad)) !== JSON.stringify(was));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForURL("**/changes");
  await until("the roll-back is not live", async () => JSON.stringify(await live(bad)) === JSON.stringify(was));
});

// One of the worst, which finds better answers if it counts more how many of its words they have, as others do too.
const worst = "buy credit by itself before the node runs dry";
const blamed = "coverage";
await test("from a bad query to a published fix without leaving the keyboard, in the lab alone", async () => {
  const keys = page.keyboard;
  const focus = () => page.evaluate(() => document.activeElement.innerText || document.activeElement.name);
  // go presses a key that leads to another page.
  const go = (key) => Promise.all([page.waitForEvent("load"), keys.press(key)]);
  // figures are the nDCG@10 of both sides.
  const figures = async () => (await page.locator(".lab header b").allInnerTexts()).map(Number);
  const changed = (was) => page.waitForFunction((was) => [...document.querySelectorAll(".lab header b")]
    .map((b) => Number(b.innerText)).join() !== was.join(), was);
  const before = await live(worst);
  await page.goto("/lab");
  await keys.press("j");
  for (let n = 0; n < 20 && !(await focus()).includes(worst); n++) await keys.press("j");
  await go("Enter");
  await says(/grades go to/);
  await go("w");
  const was = await figures();
  assert.equal(was[0], was[1]);
  // Graded by hand: both sides are measured at once.
  await keys.press("j");
  const grade = await page.evaluate(() => document.activeElement.querySelector("[aria-pressed=true]")?.dataset.grade);
  const another = grade === "3" ? "0" : "3";
  await keys.press(another);
  await changed(was);
  const other = await figures();
  await keys.press(another); // again takes it back
  await changed(other);
  assert.deepEqual(await figures(), was);
  // A weight is drawn: results and its worth follow.
  await keys.press("w");
  for (let n = 0; n < 20 && await focus() !== `weight ${blamed}`; n++) await keys.press("Tab");
  for (let n = 0; n < 3; n++) await keys.press("PageUp");
  await page.getByRole("region", { name: "edited" }).locator(".move").first().waitFor();
  await says(/On\s+all 80 queries of[\s\S]*nDCG@10/);
  const now = await figures();
  assert.ok(now[1] > now[0] + 0.1, `${now}`);
  // It is saved, measured, and published with a note.
  await keys.press("s");
  await keys.type(`${blamed} was to blame`);
  await go("Enter");
  await says(/grades go to/);
  await go("m");
  await says(/On\s+all 80 queries of/);
  await go("p");
  await says(/What differs[\s\S]*What was measured[\s\S]*evaluate it\s+first/);
  await keys.press("n");
  await keys.type("found by keys");
  await go("Enter");
  await says(/is live[\s\S]*Undo/);
  const { pathname, searchParams } = new URL(page.url());
  assert.equal(`${pathname} ${searchParams.get("q")} ${searchParams.get("b")}`, `/lab ${worst} live`);
  assert.deepEqual(await figures(), now);
  await until("the fix is not live", async () => JSON.stringify(await live(worst)) !== JSON.stringify(before));
  await go("u");
  await until("the fix is live", async () => JSON.stringify(await live(worst)) === JSON.stringify(before));
});

await test("a record is named as one types, and without script too", async () => {
  await page.goto(`/rules/pins/edit?q=${encodeURIComponent(bad)}`);
  await page.getByLabel("Another record").focus();
  await page.keyboard.type("testing contr");
  const name = `doc:${wanted}`;
  await page.locator(`datalist option[value="${name}"]`).waitFor({ state: "attached" });
  const plain = await open({ storageState: state, javaScriptEnabled: false });
  await plain.goto(`/rules/pins/edit?q=${encodeURIComponent(bad)}`);
  await plain.getByLabel("Another record").fill(wanted);
  await plain.getByRole("button", { name: "Preview" }).click();
  assert.ok((await plain.getByRole("region", { name: "What changes" }).innerText()).includes("Testing contracts"));
  assert.equal(await plain.locator(`input[name="place ${name}"]`).inputValue(), "1");
  await plain.context().close();
});

await test("what people search is counted, sampled into a case, and a change is undone", async () => {
  for (const q of ["xylophone zebra", "balance", "balance"]) await live(q);
  await until("the searches are not counted", async () => {
    await page.goto("/searches");
    return (await page.locator("main").innerText()).includes("xylophone zebra");
  });
  await page.goto("/changes");
  await page.getByRole("row", { name: /synonyms/ }).or(page.locator("li", { hasText: "synonyms" })).first()
    .getByRole("button").first().click();
  await until("the synonym is still live", async () => !(await live(bad)).includes(answers));
});

await test("an index is built again while the old one answers", async () => {
  await page.goto("/operations");
  await page.getByRole("button", { name: "Build the index again" }).click();
  assert.ok((await live("traffic balance")).length > 5);
  await until("the job does not end", async () => {
    await page.reload();
    return /reindex[\s\S]*indexed|reindex[\s\S]*done/i.test(await page.locator("main").innerText());
  });
});

await test("nothing of it is reachable on the public listener, nor for a foreign origin", async () => {
  for (const path of ["/lab", "/cases", "/evaluation", "/profiles", "/searches", "/operations/settings", "/metrics"]) {
    assert.equal((await fetch(site + path)).status, 404, path);
  }
  const cookie = state.cookies.map((c) => `${c.name}=${c.value}`).join("; ");
  const form = { method: "POST", headers: { Cookie: cookie, Origin: "https://example.org",
    "Content-Type": "application/x-www-form-urlencoded" }, body: "revision=configured&since=0" };
  assert.equal((await fetch(`${server}/profiles/publish`, form)).status, 403);
});

const here = async (at, selector) => {
  await page.goto(at);
  return page.locator(selector).first().getAttribute("href");
};
const of = encodeURIComponent(bad);
const paths = ["/lab", `/lab?q=${of}&b=vector-only&why=${wanted}`, "/lab?q=xylophone+zebra", "/lab/replay",
  `/lab?q=${of}&b=live&measure=1`, `/lab/record?name=${wanted}`, "/cases", "/cases/1",
  "/cases/1/query", `/cases/pool?q=relay+logs`, await here("/cases/1", "td a[href*='/judge']"), "/evaluation",
  "/evaluation?case=1&measure=mrr", "/evaluation/new", await here("/evaluation", "a[href^='/evaluation/runs']"),
  "/profiles", "/profiles/edit", "/profiles/diff?a=configured&b=default@1", "/profiles/publish?revision=default@1",
  "/profiles/fit", await here("/profiles/fit", "a[href^='/profiles/fit/']"), "/searches", "/rules/pins",
  `/rules/pins/edit?q=${of}`, "/rules",
  "/changes", "/operations", "/operations/settings", "/no/such/page"];
await audit(paths, paths, { storageState: state });

// Names, texts and reasons that are one word of 500 letters.
const long = "breakwater".repeat(50);
const send = async (path, form) => {
  const answer = await page.request.post(path, { form, headers: { Origin: server }, maxRedirects: 0 });
  assert.equal(answer.status(), 303, `${path}: ${await answer.text()}`);
  return answer.headers().location;
};
const wide = await send("/cases", { name: long, description: `${long}\n\n# ${long}\n\n${long}` });
await send(`${wide}/query`, { text: long, need: long, note: long, kind: long });
await send("/lab", { q: long, case: wide.split("/").pop(), grade: `2 ${wanted}`, b: "live" });
await send(`${wide}/judge`, { query: "q1", target: wanted, grade: "3", note: long });
await send("/profiles/edit", { name: "default", base: "2", note: long,
  yaml: await (await page.request.get("/lab/profile?name=live")).text() });
const spelled = long.slice(0, 200); // the most that a spelling may have
await send("/rules", { name: spelled, others: `${spelled.slice(1)}s`, base: "1", why: long, do: "publish" });
await send("/rules/pins", { query: long, record: wanted, position: "1", note: long, why: long, base: "0",
  do: "publish" });
await send("/evaluation", { case: wide.split("/").pop(), profile: "live" });
await page.goto("/evaluation");
await ended();
await narrow([...paths, wide, `${wide}/query?query=q1`, `${wide}/judge?query=q1`, `/lab?q=${long}&b=live&measure=1`,
  `/cases/pool?q=${long}x`, `/rules?name=${spelled}`, `/rules/pins/edit?q=${long}`,
  "/profiles/publish?revision=default@3"],
  { storageState: state });
await shot(paths, { storageState: state });
await close();
