// Fetches a record's proof, checks it in this browser, and keeps what held for the next time.
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { fromBase64 } from "@/proof/bytes";
import { checkRecord, overall, type CheckedRecord } from "@/proof/checks";
import type { ConsistencyProof } from "@/proof/merkle";
import { readPin, remember, writePin, type Pin } from "@/proof/pin";

/** Unlike all else that is fetched it is not checked anew by itself: "check again" does that. */
export function useRecordCheck(tenant: string, seq: number | null) {
  return useQuery({
    queryKey: ["proof", tenant, seq],
    enabled: seq !== null,
    staleTime: Infinity,
    queryFn: () => proveRecord(tenant, seq ?? 0),
  });
}

export async function proveRecord(tenant: string, seq: number): Promise<CheckedRecord> {
  const shown = await ask(api.GET("/v1/journal/key", { parseAs: "text" }));
  const params = { path: { tenant, seq } };
  const proof = api.GET("/v1/tenants/{tenant}/records/{seq}/proof", { params, parseAs: "text" });
  const file = await ask(proof);
  const pin = readPin(localStorage) ?? trustFirst(shown.trimEnd());
  const found = await checkRecord({ file, shown, pin, compare, wanted: { seq, tenant } });
  const { checkpoint, checks } = found;
  if (checkpoint !== null && overall(checks) === "holds") {
    remember(localStorage, pin, { size: checkpoint.size, root: checkpoint.root, seenMs: Date.now() });
  }
  return found;
}

function trustFirst(vkey: string): Pin {
  const pin: Pin = { vkey, source: "first_use", pinnedMs: Date.now(), seen: null };
  writePin(localStorage, pin);
  return pin;
}

async function compare(oldSize: number, newSize: number): Promise<ConsistencyProof> {
  const params = { query: { old_size: oldSize, new_size: newSize } };
  const found = await ask(api.GET("/v1/journal/consistency", { params }));
  return {
    oldSize: found.old_size,
    newSize: found.new_size,
    hashes: found.hashes.map((text) => fromBase64("hash", text)),
  };
}
