// What the calls that read pages in a browser share: CALLS ADDRESS SHOTS. They fail at the first thing that is not as
// people expect.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const [, , server, shots] = process.argv;
export const soak = Boolean(process.env.ALMANAC_SOAK); // reads all there is, which `make test` does not
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const complaints = [];

// open makes a page that notes what the browser complains about. What a page says itself, in answers with codes from
// 400 on, is no complaint.
export async function open(options = {}) {
  const context = await browser.newContext({ baseURL: server, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // other tests run beside these
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error}`));
  page.on("console", (m) => {
    if (m.type() === "error" && !/status of 4\d\d/.test(m.text())) complaints.push(`${page.url()}: ${m.text()}`);
  });
  page.on("dialog", (d) => { complaints.push(`${page.url()} says ${d.message()}`); d.dismiss(); });
  return page;
}

export async function test(name, run) {
  await run().catch(async (error) => {
    const pages = browser.contexts().flatMap((c) => c.pages());
    for (const [i, page] of pages.entries()) {
      console.log(`at ${page.url()}`);
      await page.screenshot({ path: `${shots}/failure-${i}.png` }).catch(() => {});
    }
    throw error;
  });
  assert.deepEqual(complaints, [], name);
  console.log(`ok  ${name}`);
}

// read has axe-core read pages in a window, several at a time: by every rule in the first scheme, and by contrast in the
// others, as colours are all that the scheme changes.
async function read(paths, [first, ...others], options) {
  const left = [...paths];
  const wrong = [];
  await Promise.all(Array.from({ length: 3 }, async () => {
    const page = await open({ ...options, reducedMotion: "reduce" }); // colours of the other scheme are there at once
    await page.addInitScript(() => {
      window.shifted = 0;
      window.moved = [];
      new PerformanceObserver((list) => list.getEntries().filter((e) => !e.hadRecentInput).forEach((e) => {
        window.shifted += e.value;
        window.moved.push(...e.sources.map((s) => (s.node?.outerHTML ?? s.node?.textContent ?? "").slice(0, 80)));
      })).observe({ type: "layout-shift", buffered: true });
    });
    const cdp = await page.context().newCDPSession(page);
    const fits = async (path) => {
      const [width, wide] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth - innerWidth]);
      if (wide > 0) wrong.push(`${path} is ${wide} px too wide for ${width} px`);
    };
    const obeys = async (path, scheme, rules) => {
      await page.emulateMedia({ colorScheme: scheme });
      const { result } = await cdp.send("Runtime.evaluate", {
        expression: `axe.run(${JSON.stringify(rules)})
          .then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes[0].html)))`,
        awaitPromise: true, returnByValue: true,
      });
      wrong.push(...JSON.parse(result.value).map((v) => `${path}, ${scheme}: ${v}`));
    };
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      await page.emulateMedia({ colorScheme: first });
      await page.goto(path);
      const [shifted, moved] = await page.evaluate(() => [window.shifted, window.moved]);
      if (shifted > 0.01) wrong.push(`${path} shifts by ${shifted}: ${moved.join(" ; ")}`);
      await fits(path);
      await cdp.send("Runtime.evaluate", { expression: axe }); // the policy of the page would not let it in
      await obeys(path, first, {});
      for (const other of others) await obeys(path, other, { runOnly: ["color-contrast"] });
      for (const width of options.narrower ?? []) {
        await page.setViewportSize({ ...options.viewport, width });
        await fits(path);
        await page.setViewportSize(options.viewport);
      }
    }
    await page.context().close();
  }));
  assert.deepEqual(wrong, []);
}

// audit reads pages on a desk and on a phone, whose smallest width is that of half a screen, enlarged. Colours differ by
// scheme and hardly by width: the phone's light ones are left to soak.
export async function audit(onDesk, onPhone, options = {}) {
  for (const [paths, width, schemes, narrower] of
    [[onDesk, 1280, ["light", "dark"], []], [onPhone, 390, soak ? ["dark", "light"] : ["dark"], [320]]]) {
    const what = `${[width, ...narrower].join(" and ")} px, ${schemes.join(", contrast also ")}`;
    await test(`${paths.length} kinds of pages at ${what}: accessible, no complaint, nothing shifts or is cut off`,
      () => read(paths, schemes, { ...options, viewport: { width, height: 844 }, narrower }));
  }
}

// narrow opens pages in a window of 320 px with everything unfolded, which nothing may be wider than.
export async function narrow(paths, options = {}) {
  await test(`${paths.length} pages at 320 px, unfolded: nothing is wider`, async () => {
    const page = await open({ ...options, viewport: { width: 320, height: 640 } });
    const wrong = [];
    for (const path of paths) {
      await page.goto(path);
      const wide = await page.evaluate(() => {
        for (const fold of document.querySelectorAll("details")) fold.open = true;
        return document.documentElement.scrollWidth - innerWidth;
      });
      if (wide > 0) wrong.push(`${path} is ${wide} px too wide`);
    }
    await page.context().close();
    assert.deepEqual(wrong, []);
  });
}

// shot takes pictures of the first screen of pages, on both widths and in both schemes, for people to look at.
export async function shot(paths, options = {}) {
  if (process.env.CI === "true") return;
  for (const [width, colorScheme] of [[1280, "light"], [390, "light"], [390, "dark"], [1280, "dark"]]) {
    const page = await open({ ...options, viewport: { width, height: width === 390 ? 844 : 900 }, colorScheme });
    for (const path of paths) {
      await page.goto(path);
      const name = path.replace(/\W+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "home";
      await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png` });
    }
    await page.context().close();
  }
}

export const close = () => browser.close();
