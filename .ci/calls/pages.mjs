// Reads the pages of a server in a browser: pages.mjs ADDRESS SHOTS. It fails at the first thing that is not as people
// expect.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { audit, close, narrow, open, server, shot, shots, soak, test } from "./browser.mjs";

const titles = (page) => page.locator(".hit h2 a").allTextContents();
const settled = (page, n) => page.waitForFunction((n) => document.querySelectorAll(".hit").length >= n
  && !document.querySelector("#main.busy"), n);

await test("the combobox suggests on every page and opens what is chosen", async () => {
  const page = await open();
  await page.goto("/deadlines");
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Search" });
  assert.equal(await field.evaluate((e) => e === document.activeElement), true);
  const answered = page.waitForResponse((r) => r.url().endsWith("q=traffic%20acc"));
  await field.pressSequentially("traffic acc", { delay: 20 });
  await answered;
  await page.waitForFunction(() => /suggestion/.test(document.querySelector("body > [role=status]").textContent));
  assert.equal(await field.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  const chosen = page.locator("[role=option][aria-selected=true]");
  assert.equal(await field.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
  await page.keyboard.press("Escape");
  assert.equal(await field.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const to = await page.locator("[role=option][aria-selected=true]").getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${to}`);
  await page.keyboard.press("Control+k");
  assert.equal(await page.locator(".field input").evaluate((e) => e === document.activeElement), true);
});

await test("an identifier and Enter opens its record", async () => {
  const page = await open();
  await page.goto("/");
  await page.locator(".field input").fill("cip 4");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/cips/0004");
});

await test("results change as one types, the newest question wins, and the address can be shared", async () => {
  const page = await open();
  await page.goto("/?q=balance");
  await settled(page, 3);
  const field = page.locator(".field input");
  let release;
  const late = new Promise((done) => { release = done; }); // until the newest is shown
  await page.route("**/results?*q=traffic+b", async (route) => {
    await late;
    await route.continue().catch(() => {}); // the page may have given it up
  });
  const asked = page.waitForRequest("**/results?*q=traffic+b");
  await field.fill("traffic b");
  const held = await asked;
  await field.fill("upgrade of packages");
  await page.waitForFunction(() => document.querySelector(".said b")?.textContent === "upgrade of packages");
  const found = await titles(page);
  release();
  await (await held.response())?.finished(); // there is none if the page gave it up
  await page.evaluate(async () => (await fetch("/robots.txt")).text()); // what came before has been dealt with
  assert.deepEqual(await titles(page), found);
  assert.match(page.url(), /q=upgrade\+of\+packages/);
  const other = await open();
  await other.goto(page.url());
  assert.deepEqual(await titles(other), found);
});

await test("every letter finds something, and a line says when there are too many", async () => {
  const page = await open();
  await page.goto("/");
  const field = page.locator(".field input");
  for (const query of ["t", "tr", "tra", "traf"]) {
    const answered = page.waitForResponse((r) => r.url().endsWith(`/live?q=${query}`));
    await field.press(query.at(-1));
    await answered;
    await page.waitForFunction((q) => document.querySelector("[role=option] small:last-child, [role=option]") !== null
      && document.querySelector(".field input").value === q, query);
  }
  await page.locator("[role=option]", { hasText: "Traffic and fees" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**q=traf");
  assert.ok((await titles(page)).length > 5);
  let refused = false;
  const seen = [];
  page.on("response", (r) => { if (r.url().includes("/results?")) seen.push(r.status()); });
  await page.route("**/results?*", (route) => (refused
    ? route.fulfill({ status: 429, headers: { "Retry-After": "800" }, body: "no" }) : route.continue()));
  for (const query of ["preapproval", "traffic balance error", "rename loses comments", "key rotation", "vote on fees",
    "wallet connection", "upgrade of packages", "flat fee", "relay node 2.4", "grant milestones"]) {
    const answered = page.waitForResponse((r) => r.url().endsWith(`q=${query.replaceAll(" ", "+")}`));
    await field.fill("");
    await field.pressSequentially(query);
    await answered;
    await settled(page, 1);
  }
  assert.ok(seen.length >= 10 && seen.every((status) => status === 200), `${seen}`);
  const [address, found] = [page.url(), await titles(page)];
  refused = true;
  await field.fill("tide");
  await page.getByText("They are shown as you type again in 14 minutes.").last().waitFor();
  assert.ok(await page.locator("#hits .notice").isVisible());
  assert.deepEqual([page.url(), await titles(page)], [address, found]); // what is shown is what the address says
});

await test("a result opens at its heading, with the words that were found marked once", async () => {
  const page = await open();
  await page.goto("/?q=automatic+top-up");
  await page.locator(".hit h2 a[href*='#s-']").first().click();
  await page.waitForURL("**#s-*");
  assert.ok(await page.evaluate(() => CSS.highlights.get("found").size) > 0);
  assert.ok(await page.evaluate(() => document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null));
  await page.reload();
  assert.equal(await page.evaluate(() => CSS.highlights.has("found")), false);
});

await test("a mention opens where the proposal is named, marked", async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto("/cips/0004/mentions");
  await page.locator("main a[href*='#s-to:']").first().click();
  const named = page.locator(":target");
  assert.match(await named.innerText(), /4/);
  assert.notEqual(await named.evaluate((e) => getComputedStyle(e).backgroundColor), "rgba(0, 0, 0, 0)");
});

await test("filter, open, go back, sort, remove the filter", async () => {
  const page = await open();
  await page.goto("/?q=node");
  await page.getByRole("complementary", { name: "Filters" }).getByRole("link", { name: /^Docs/ }).click();
  await page.waitForURL("**type=doc**");
  const docs = await titles(page);
  assert.ok((await page.locator(".hit .path b").allTextContents()).every((kind) => kind !== "Discussion"));
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), docs[1]);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".record"));
  await page.goBack();
  assert.deepEqual(await titles(page), docs);
  await page.getByRole("link", { name: "newest first" }).click();
  await page.waitForURL("**sort=date**");
  await page.goto("/?q=node&source=docs");
  await page.getByRole("link", { name: "Remove the filter Documentation" }).click();
  await page.waitForURL((u) => !u.search.includes("source"));
});

await test("recent searches stay in the browser and can be switched off", async () => {
  const page = await open();
  await page.goto("/?q=relay");
  await page.keyboard.press("/");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.goto("/");
  await page.locator(".field input").focus();
  assert.deepEqual(await page.getByRole("option").allTextContents(), ["relay"]);
  await page.getByRole("button", { name: "Forget and stop" }).click();
  assert.equal(await page.getByRole("option").count(), 0);
  assert.deepEqual(await page.evaluate(() => JSON.parse(localStorage.getItem("almanac.recent"))), []);
});

await test("without script: search, filter, page, open, subscribe", async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto("/");
  await page.locator(".field input").fill("trafic balance");
  await page.keyboard.press("Enter");
  await page.waitForURL("**q=**");
  assert.ok((await titles(page)).length > 5);
  await page.getByRole("link", { name: /search instead/ }).click();
  await page.waitForURL("**%22trafic%22**");
  await page.goto("/?q=node");
  await page.getByRole("link", { name: "More results" }).click();
  await page.waitForURL("**offset=20**");
  await page.getByRole("link", { name: /^Discussions \d/ }).click();
  await page.waitForURL("**type=discussion**");
  await page.locator(".hit h2 a").first().click();
  await page.locator(".record h1").waitFor();
  await page.locator(".same summary", { hasText: "MCP call" }).click();
  assert.match(await page.locator(".same details[open] pre").first().innerText(), /"name"/);
  await page.goto("/deadlines");
  const calendar = await page.getByRole("link", { name: "Subscribe to the calendar" }).getAttribute("href");
  const answer = await page.request.get(calendar);
  assert.match(answer.headers()["content-type"], /^text\/calendar/);
  assert.match(await answer.text(), /BEGIN:VEVENT\r\n/);
});

await test("without script: threads and comments have addresses, and the steps of a guide lead on", async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto("/discussions");
  await page.locator(".rows h2 a").first().click();
  await page.locator(".post").first().waitFor();
  await page.goto("/issues?repo=causeway-network/cway");
  await page.getByRole("link", { name: "vet from a file" }).click();
  const times = await page.locator(".post time").evaluateAll((all) => all.map((t) => t.dateTime));
  assert.equal(times.length, 2);
  assert.deepEqual(times, times.toSorted());
  assert.match(await page.locator(".post .text").first().innerText(), /\w/);
  await page.getByRole("region", { name: "Comment 2" }).getByRole("link", { name: "2" }).click();
  assert.match(page.url(), /#c2$/);
  await page.goto("/guides/evm");
  await page.locator("article ol a").first().click();
  await page.waitForURL("**/docs/**");
});

await test("without script: a recipe is about what the reader names", async () => {
  const page = await open({ javaScriptEnabled: false });
  await page.goto("/recipes");
  await page.getByRole("link", { name: "whom to ask" }).click();
  await page.getByLabel("Topic").fill("traffic");
  await page.getByRole("button", { name: "Fill in" }).click();
  await page.waitForURL("**/recipes/whom-to-ask?q=traffic");
  assert.equal(await page.getByLabel("Topic").inputValue(), "traffic");
  assert.match(await page.locator("section pre").first().innerText(), /"topic":"traffic"/);
  await page.getByRole("link", { name: "Run find_expert" }).click();
  assert.match(await page.locator(".answer").innerText(), /"items"/);
});

await test("what is typed is shown and does nothing", async () => {
  const page = await open();
  const hostile = `"><img src=x onerror=alert(1)><style>*{display:none}</style>`;
  await page.goto(`/?q=${encodeURIComponent(hostile)}`);
  const answered = page.waitForResponse("**/results?**");
  await page.locator(".field input").fill(`${hostile} <script>alert(2)</script>`);
  await answered;
  await page.waitForFunction(() => !document.querySelector("#main.busy"));
  assert.equal(await page.locator("main img, main style, main script").count(), 0);
});

// Every list, and two pages of every kind: one is read on a desk and one on a phone, in soak both on both.
const sitemap = async (path) => [...(await (await fetch(server + path)).text()).matchAll(/<loc>(.*?)<\/loc>/g)]
  .map((m) => m[1].replaceAll("&amp;", "&"));
const paths = ["/", `/?q=${"a".repeat(500)}`, "/?q=traffic+ballance", "/?q=xylophone+zebra", "/contents", "/changes",
  "/trending", "/deadlines",
  "/network", "/market", "/versions", "/migrate", "/statistics", "/drift", "/sources", "/status", "/connect",
  "/recipes", "/recipes/prepare-upgrade", "/recipes/code-example", "/recipes/whom-to-ask?q=xylophone",
  "/api/v1/reference", "/api/v1/reference/search", "/api/v1/reference/get_doc",
  "/api/v1/reference/get_cip?id=4", "/api/v1/reference/get_doc?offset=x", "/cips/graph",
  "/cips/0004/history",
  "/cips/0023/votes", "/cips/0004/mentions", "/cips/0004/implementation", "/cips/0004/attachments",
  "/no/such/page"];
const onDesk = [...paths];
const onPhone = [...paths];
for (const part of await sitemap("/sitemap.xml")) {
  const u = new URL(part);
  const all = (await sitemap(u.pathname + u.search)).map((loc) => new URL(loc).pathname);
  const two = [all[0], all[Math.floor(all.length / 2)]];
  onDesk.push(...(soak ? two : two.slice(0, 1)));
  onPhone.push(...(soak ? two : two.slice(1)));
}

await audit(onDesk, onPhone);
await narrow(["/contents", "/sources", "/recipes", "/recipes/prepare-upgrade", "/recipes/code-example", "/recipes/error-message"]);

await test("the first page has one left edge on what is between a phone and a desk", async () => {
  const page = await open();
  for (const width of [660, 820, 940]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("/");
    const edges = await page.locator("main h1, main .lede, .home .field, .columns h2").evaluateAll((all) => all.map((e) =>
      Math.round(e.getBoundingClientRect().left)));
    assert.equal(new Set(edges).size, 1, `${edges} at ${width}`);
  }
});

await test("texts of charts keep their size at every width", async () => {
  for (const width of [390, 1280, 1920]) {
    const page = await open({ viewport: { width, height: 900 } });
    for (const path of ["/network", "/market", "/statistics"]) {
      await page.goto(path);
      const sizes = await page.locator(".chart text").evaluateAll((all) => all.map((t) => parseFloat(
        getComputedStyle(t).fontSize) * t.getScreenCTM().a));
      assert.ok(sizes.length > 3 && sizes.every((s) => s >= 11 && s <= 14), `${path} at ${width}: ${sizes}`);
    }
    await page.context().close();
  }
});

await test("server and script write times alike", async () => {
  const texts = async (options) => {
    const page = await open({ timezoneId: "UTC", ...options });
    await page.goto("/operations");
    return page.locator("main time").allTextContents();
  };
  const written = await texts({ javaScriptEnabled: false });
  assert.ok(written.length > 5);
  assert.deepEqual(await texts({}), written);
  const page = await open({ timezoneId: "Asia/Kolkata" });
  await page.goto("/operations");
  const time = page.locator("time[data-moment]").first();
  assert.match(await time.textContent(), /^\d+ \w{3} \d{4}, \d\d:\d\d (GMT\+5:30|IST)$/);
  assert.match(await time.getAttribute("title"), /UTC$/);
});

await test("one operation of the reference is asked, and what can be pasted can be copied", async () => {
  const page = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto("/api/v1/reference");
  await page.getByRole("link", { name: "Search the knowledge base" }).click();
  assert.match(await page.locator(".answer").innerText(), /"items"/);
  await page.locator(".try-it [name=q]").fill("retention");
  assert.match(await page.locator(".curl code").innerText(), /q=retention/);
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".try-it output pre").waitFor();
  assert.match(await page.locator(".try-it output").innerText(), /^200 .*\n[^]*"total"/);
  await page.goto("/connect");
  await page.locator("div", { has: page.getByRole("heading", { name: "Claude Code" }) }).last()
    .getByRole("button", { name: "copy" }).click();
  await page.getByRole("button", { name: "copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
    `claude mcp add --transport http causeway-network ${server}/mcp`);
});

// A page of another origin, whose styles would make the box unreadable.
const other = createServer((_, answer) => {
  answer.setHeader("Content-Type", "text/html");
  answer.setHeader("Content-Security-Policy", `default-src 'none'; script-src ${server}; connect-src ${server}; ` +
    "style-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types 'none'");
  answer.end(`<!doctype html><html lang="ar" dir="rtl" style="color-scheme: dark"><title>Elsewhere</title>
    <style>* { font-size: 40px !important; text-transform: uppercase !important; color: red }
    button, input { display: none }</style><body><p>Elsewhere</p><script src="${server}/search-box.js" defer></script></body></html>`);
}).listen(0, "127.0.0.1");
await once(other, "listening");

await test("the search box of another site suggests, by keyboard, in its direction and scheme", async () => {
  const page = await open();
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  const button = page.getByRole("button", { name: "Search" });
  assert.notEqual(await button.evaluate((e) => getComputedStyle(e).display), "none");
  assert.equal(await button.evaluate((e) => getComputedStyle(e).fontSize), "16px");
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Search" });
  assert.equal(await field.evaluate((e) => e.getRootNode().activeElement === e), true);
  assert.equal(await field.evaluate((e) => getComputedStyle(e.parentElement).direction), "rtl");
  assert.equal(await field.evaluate((e) => getComputedStyle(e.parentElement).backgroundColor), "rgb(26, 30, 34)");
  await field.pressSequentially("traffic");
  await page.getByRole("option", { name: "All results" }).waitFor();
  assert.equal(await field.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("ArrowDown");
  const chosen = page.locator("[role=option][aria-selected=true]");
  assert.equal(await field.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
  await page.screenshot({ path: `${shots}/search-box.png` });
  const to = await chosen.getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.href === to);
  assert.ok(to.startsWith(server));
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  await page.keyboard.press("Control+k");
  await field.fill("traffic balance");
  await page.keyboard.press("Escape");
  assert.equal(await field.isVisible(), false);
  await button.click();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server}/?q=traffic%20balance`);
});
other.close();

await shot(["/", "/?q=traffic+balance", "/cips", "/cips/0010", "/discussions/104", "/network", "/deadlines"]);

await test("a printed page is the text in black, without what only a screen has", async () => {
  const page = await open({ colorScheme: "dark" });
  for (const path of ["/cips/0010", "/discussions/104", "/network", "/?q=balance"]) {
    await page.goto(path);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    for (const part of [".masthead nav", ".field", ".same", ".facets", ".tabs", ".foot nav", ".pager", ".copy"]) {
      for (const x of await page.locator(part).all()) assert.equal(await x.isVisible(), false, `${path} prints ${part}`);
    }
    const [ink, paper] = await page.evaluate(() => ["color", "backgroundColor"]
      .map((name) => getComputedStyle(document.body)[name].match(/[\d.]+/g).map(Number)));
    assert.ok(ink.slice(0, 3).every((v) => v < 60) && (paper[3] === 0 || paper.slice(0, 3).every((v) => v > 240)),
      `${path} prints ${ink} on ${paper}`);
    const wrong = await page.evaluate(() => {
      const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
      return [...document.querySelectorAll(".masthead *, main *")].filter((e) => {
        const { color, backgroundColor } = getComputedStyle(e);
        const [r, g, b, a = 1] = numbers(backgroundColor);
        return e.innerText && e.checkVisibility()
          && (numbers(color).slice(0, 3).every((v) => v > 150) || (a > 0.5 && r + g + b < 600));
      }).map((e) => e.outerHTML.slice(0, 60));
    });
    assert.deepEqual(wrong, [], `${path} prints light on dark`);
    assert.ok((await page.locator("main").innerText()).length > 200, `${path} prints hardly anything`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
    const pdf = await page.pdf({ format: "A4", path: `${shots}/print${path.replace(/\W+/g, "-")}.pdf` });
    assert.ok(pdf.length > 5_000);
    await page.emulateMedia({ media: "screen" });
  }
});

await test("forced colours and less motion", async () => {
  const page = await open({ forcedColors: "active", reducedMotion: "reduce" });
  await page.goto("/?q=balance");
  assert.equal(await page.locator(".hit h2 a").first().evaluate((e) => getComputedStyle(e).transitionDuration), "0s");
});

await test("the policy of pages blocked nothing", async () => {
  const answer = await (await fetch(`${server}/api/v1/csp-violations`)).json();
  assert.equal(answer.total, 0, JSON.stringify(answer.items));
});

await close();
