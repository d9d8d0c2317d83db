// Reads pages of texts that mean harm: hostile.mjs ADDRESS WORD. The word is in all of them. Nothing of them may run, be
// loaded or change how a page looks.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [, , server, word] = process.argv;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await (await browser.newContext({ baseURL: server, colorScheme: "light" })).newPage();
page.setDefaultTimeout(120_000); // a long text is searched part by part, and other tests run beside these
const complaints = [];
page.on("dialog", (d) => { complaints.push(`a dialog says ${d.message()}`); d.dismiss(); });
page.on("console", (m) => { if (m.type() === "error") complaints.push(m.text()); });
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("request", (r) => { if (!r.url().startsWith(server)) complaints.push(`asks ${r.url()}`); });

const look = () => page.evaluate(() => ["h1", ".masthead", "main", ".foot"].map((selector) => {
  const e = document.querySelector(selector);
  const { display, position, color, backgroundColor, visibility } = getComputedStyle(e);
  return [selector, display, position, color, backgroundColor, visibility, e.getBoundingClientRect().left >= 0];
}));
await page.goto("/contents");
const ours = await look();

const sitemap = await (await fetch(`${server}/sitemap.xml?kind=doc`)).text();
const records = [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map((m) => new URL(m[1]).pathname);
assert.ok(records.length > 4, "the texts are not indexed");
for (const path of [`/?q=${word}`, "/docs", "/", ...records]) {
  await page.goto(path);
  for (const [i, [selector, ...style]] of (await look()).entries()) {
    if (selector !== "h1") assert.deepEqual(style, ours[i].slice(1), `${path} changes ${selector}`);
  }
  const foreign = await page.locator("main :is(img, script:not([type]), style, iframe, object, video, base, form:not([action]))").count();
  assert.equal(foreign, 0, path);
  for (const link of await page.locator(".text a").all()) await link.dispatchEvent("mouseover");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${path} is too wide`);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.content()), `${path} turns the direction of text`);
}
// A section of a later part of a long text is found by its name.
await page.goto(`${records.find((path) => path.endsWith("wide.md"))}#s-after`);
await page.locator("#s-after").waitFor();
assert.match(page.url(), /cursor=/);
await page.goto("/");
await page.locator(".field input").pressSequentially(word, { delay: 20 });
await page.getByRole("option").first().waitFor();
const { total } = await (await fetch(`${server}/api/v1/csp-violations`)).json();
assert.equal(total, 0);
assert.deepEqual(complaints, []);
console.log(`ok  ${records.length} pages of hostile texts are inert`);
await browser.close();
