// Which key this browser trusts, since when and why; and how to trust the one that a person was
// given by the operator himself.
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Age, moment } from "@/parts/age";
import { CopyButton } from "@/parts/copy";
import { grouped } from "@/proof/bytes";
import { fingerprint, parseKey } from "@/proof/note";
import { forgetPin, readPin, writePin } from "@/proof/pin";

export function KeyPin({ again }: { again: () => void }) {
  const pin = readPin(localStorage);
  const mark = useQuery({
    queryKey: ["fingerprint", pin?.vkey],
    enabled: pin !== null,
    staleTime: Infinity,
    queryFn: async () => grouped(await fingerprint(await parseKey(pin?.vkey ?? ""))),
  });
  if (pin === null) return null;
  return (
    <section aria-label="The key" className="space-y-2">
      <p>
        {pin.source === "given" ? (
          <>You gave this browser the key below </>
        ) : (
          <>
            The key below is the first that this server showed to this browser, and was believed
            then. Compare it with what its operator reads from{" "}
            <code className="font-mono text-xs">bailiwick journal vkey</code>. It is trusted since{" "}
          </>
        )}
        {moment(pin.pinnedMs)} (<Age ms={pin.pinnedMs} />
        ).
      </p>
      <div className="flex items-center gap-1 rounded-md bg-raised px-3 py-1">
        <code className="min-w-0 flex-1 font-mono text-xs break-all">{pin.vkey}</code>
        <CopyButton text={pin.vkey} label="Copy the key" />
      </div>
      {mark.data !== undefined && (
        <p className="text-xs text-muted">
          fingerprint (SHA-256){" "}
          <code className="font-mono break-words text-ink">{mark.data}</code>
        </p>
      )}
      <GivenKey again={again} />
    </section>
  );
}

function GivenKey({ again }: { again: () => void }) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  async function pin(event: FormEvent) {
    event.preventDefault();
    try {
      const { text: vkey } = await parseKey(text.trim());
      const seen = readPin(localStorage)?.seen ?? null;
      writePin(localStorage, { vkey, source: "given", pinnedMs: Date.now(), seen });
      setFault(null);
      setText("");
      again();
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  }
  function forget() {
    forgetPin(localStorage);
    again();
  }
  return (
    <details className="print:hidden">
      <summary className="cursor-pointer py-1 text-accent">
        Trust a key that I was given, or begin anew
      </summary>
      <form onSubmit={(event) => void pin(event)} className="mt-2 space-y-2">
        <label className="block space-y-1">
          <span>The key as the operator gave it to me (name+id+base64)</span>
          <input
            className="field font-mono text-xs"
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {fault !== null && (
          <p role="alert" className="text-bad">
            {fault}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <button type="submit" className="button" disabled={text.trim() === ""}>
            Trust this key
          </button>
          <button type="button" className="button button-bad" onClick={forget}>
            Forget the key and what was seen
          </button>
        </div>
        <p className="text-xs text-muted">
          To forget means to believe the next key that the server shows, and to compare with nothing
          that was seen before. Do it only if its operator told you why.
        </p>
      </form>
    </details>
  );
}
