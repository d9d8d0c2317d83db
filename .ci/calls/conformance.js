// Compares the results of the conformance runner with the list of what it cannot test here.
//
// Usage: conformance.js LIST RESULTS
//
// RESULTS has a directory for each version of the protocol, and in it server-SCENARIO-TIME/checks.json.
const { readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')

const [list, results] = process.argv.slice(2)
const expected = new Set(
  readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(/\s/)[0]),
)
const failed = new Set()
let wrong = 0
for (const version of readdirSync(results).sort()) {
  let passed = 0
  const scenarios = readdirSync(join(results, version))
  for (const directory of scenarios) {
    const scenario = directory.match(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/)[1]
    for (const check of JSON.parse(readFileSync(join(results, version, directory, 'checks.json'), 'utf8'))) {
      if (check.status !== 'FAILURE') {
        passed += check.status === 'SUCCESS'
        continue
      }
      const known = [scenario, check.id].filter((name) => expected.has(name))
      known.forEach((name) => failed.add(name))
      if (known.length === 0) {
        wrong++
        console.log(`conformance ${version} ${scenario}: ${check.id} FAILED: ${check.errorMessage}`)
      }
    }
  }
  console.log(`conformance ${version}: ${scenarios.length} scenarios, ${passed} checks passed`)
  if (passed === 0) wrong++
}
for (const name of expected) {
  if (failed.has(name)) continue
  wrong++
  console.log(`conformance: ${name} is listed in ${list} but does not fail`)
}
process.exit(wrong ? 1 : 0)
