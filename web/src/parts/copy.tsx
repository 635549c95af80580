// Copies a text, and says so.
import { Check, Copy } from "lucide-react";
import { useState } from "react";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  }
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      onClick={() => void copy()}
      aria-label={copied ? "copied" : label}
      title={label}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded text-muted hover:bg-raised hover:text-ink"
    >
      <Icon size={14} aria-hidden />
    </button>
  );
}

/** A command of the command line that shows the same, to copy. */
export function CommandLine({ command }: { command: string }) {
  return (
    <div className="flex items-center gap-1 rounded-md border border-line bg-raised py-0.5 pr-1 pl-3">
      <span aria-hidden className="text-muted select-none">
        $
      </span>
      <code
        className="min-w-0 flex-1 overflow-x-auto py-1 font-mono text-xs whitespace-nowrap"
        tabIndex={0}
      >
        {command}
      </code>
      <CopyButton text={command} label="Copy the command" />
    </div>
  );
}
