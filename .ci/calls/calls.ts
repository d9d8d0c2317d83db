// Uses the types that openapi-typescript makes of openapi.json, with openapi-fetch.
//
// Usage: calls.js URL FEWEST
//
// FEWEST is how many grants there have to be.

import createClient from "openapi-fetch";
import type { paths } from "./api";

const [url, fewest] = process.argv.slice(2);
const client = createClient<paths, "application/json">({ baseUrl: url });

function check(condition: boolean, what: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(what));
}

/** The data of an answer; an answer that is an error is thrown. */
function data<T>(answer: { data?: T; error?: unknown }): T {
  check(answer.data !== undefined, answer.error);
  return answer.data;
}

const proposals = data(await client.GET("/api/v1/cips", { params: { query: { limit: 2 } } }));
const first = proposals.items[0];
check(proposals.items.length <= 2 && proposals.items.length <= proposals.total && first !== undefined, proposals);
const id: string = first.id;
check(typeof id === "string" && Array.isArray(first.requires) && typeof first.draft === "boolean", first);

const full = data(await client.GET("/api/v1/cips/{id}", { params: { path: { id } } }));
const header: Record<string, string> = full.header;
check(full.id === id && full.title === first.title && full.content !== "" && Object.keys(header).length > 0, full);

const found = data(await client.GET("/api/v1/search", { params: { query: { q: first.title } } }));
check(found.items.length > 0, found);
for (const hit of found.items) {
  const id: string = hit.id;
  const score: number = hit.score;
  check(typeof id === "string" && score > 0 && score <= 1, hit);
  const document = data(await client.GET("/api/v1/docs/{id}", { params: { path: { id } } }));
  check(document.title === hit.title, [hit, document]);
}

const grants = data(await client.GET("/api/v1/proposals", { params: { query: { state: "all" } } }));
check(grants.items.length >= Number(fewest), grants);
for (const grant of grants.items) {
  const number: number = grant.number;
  const created: string | null = grant.created_at;
  check(number > 0 && typeof grant.merged === "boolean" && created !== null && !isNaN(Date.parse(created)), grant);
}

console.log(
  `typescript: ${proposals.items.length} proposals, ${found.items.length} hits, ${grants.items.length} grants`,
);
