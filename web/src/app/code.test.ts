import { expect, test } from "vitest";
import { hideCode, printedCode } from "./code";

test("the code is taken out of the address and of the history at once", () => {
  const left: string[] = [];
  const history = {
    replaceState: (_: unknown, __: string, url: string) => left.push(url),
  } as unknown as History;
  const at = (hash: string) => ({ hash, pathname: "/", search: "" }) as Location;
  hideCode(at("#code=12.ab~c"), history);
  expect([printedCode(), left]).toEqual(["12.ab~c", ["/"]]);
  hideCode(at("#code=<script>"), history);
  expect([printedCode(), left.length]).toEqual(["12.ab~c", 1]);
});
