// What was checked in this browser, step by step in words, and what is still trusted.
import { CircleCheck, CircleHelp, CircleX, RotateCw } from "lucide-react";
import { Panel } from "@/parts/panel";
import { CommandLine } from "@/parts/copy";
import { overall, type Check, type CheckName, type Outcome } from "@/proof/checks";
import { assertNever } from "@/words/assert-never";
import { KeyPin } from "./key-pin";

interface VerificationTerms {
  /** "record 17" or "invoice inv-2026-10". */
  what: string;
  checks: Check[];
  /** What checks the same without any server's page. */
  command: string;
  again: () => void;
}

export function Verification({ what, checks, command, again }: VerificationTerms) {
  const verdict = overall(checks);
  return (
    <Panel
      title="Verification"
      aside={
        <button type="button" className="button h-8 print:hidden" onClick={again}>
          <RotateCw size={14} aria-hidden /> Check again
        </button>
      }
    >
      <div role="status" className={`mb-3 rounded-md border px-3 py-2 ${LOOK[verdict]}`}>
        <p className="flex items-center gap-2 font-semibold">
          <Icon outcome={verdict} size={18} /> {verdictTold(verdict, what)}
        </p>
      </div>
      <ol className="space-y-2" aria-label="What was checked">
        {checks.map((check) => (
          <li key={check.name} className="flex gap-2">
            <span className={`mt-0.5 shrink-0 ${TEXT[check.outcome]}`}>
              <Icon outcome={check.outcome} size={16} />
            </span>
            <span className="min-w-0">
              <span className="font-semibold">{titleOf(check.name)}: </span>
              <span className="break-words">{check.told}</span>
            </span>
          </li>
        ))}
      </ol>
      <div className="mt-4 space-y-2 border-t border-line pt-3">
        <h3 className="font-semibold">What is trusted</h3>
        <ul className="list-disc space-y-1 pl-5 text-muted">
          <li>This browser, for SHA-256 and Ed25519.</li>
          <li>
            This page, which the same server sent. Whoever wants to need neither takes the proof and
            checks it with a program of his own:
          </li>
        </ul>
        <CommandLine command={command} />
        <KeyPin again={again} />
      </div>
    </Panel>
  );
}

const LOOK: Record<Outcome, string> = {
  holds: "border-good/40 bg-good-soft text-good",
  fails: "border-bad bg-bad-soft text-bad",
  unknown: "border-warn/40 bg-warn-soft text-warn",
};
const TEXT: Record<Outcome, string> = { holds: "text-good", fails: "text-bad", unknown: "text-warn" };
const SAID: Record<Outcome, string> = { holds: "holds", fails: "fails", unknown: "not known" };

function Icon({ outcome, size }: { outcome: Outcome; size: number }) {
  const icons = { holds: CircleCheck, fails: CircleX, unknown: CircleHelp };
  const Drawn = icons[outcome];
  return <Drawn size={size} role="img" aria-label={SAID[outcome]} className="shrink-0" />;
}

function verdictTold(verdict: Outcome, what: string): string {
  switch (verdict) {
    case "holds":
      return `Verified in this browser: ${what} is what the journal sealed.`;
    case "fails":
      return `Do not believe it: ${what} did not pass.`;
    case "unknown":
      return `Checked as far as this browser can: ${what}.`;
    default:
      return assertNever(verdict);
  }
}

function titleOf(name: CheckName): string {
  switch (name) {
    case "key":
      return "Key";
    case "signature":
      return "Signature";
    case "inclusion":
      return "In the journal";
    case "record":
      return "The record itself";
    case "consistency":
      return "Only grew";
    case "invoice_digest":
      return "The invoice is the sealed one";
    case "invoice_sums":
      return "Its sums";
    default:
      return assertNever(name);
  }
}
