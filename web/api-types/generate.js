// Writes the types of the API from its committed contract, and nothing else.
//
//   npm run generate            writes ../src/api/schema.ts
//   node generate.js --print    writes it to standard output, for the test that compares
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const contract = JSON.parse(
  readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"),
);
const types = await openapiTS(contract, { alphabetize: true, defaultNonNullable: false });
const text = `// Made from docs/openapi.json by web/api-types (npm run generate). Not edited by hand.\n${astToString(types)}`;

if (process.argv.includes("--print")) {
  process.stdout.write(text);
} else {
  writeFileSync(new URL("../src/api/schema.ts", import.meta.url), text);
}
