// Keys: Ctrl-K finds, `g` and a letter goes to a page, `?` shows them all. None of them works while
// one types.
import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Sheet } from "@/parts/sheet";
import { pagesFor } from "./pages";
import { useWho } from "./who";

const SECOND_KEY_MS = 1_200;

interface ShortcutTerms {
  openPalette: () => void;
  openHelp: () => void;
}

export function useShortcuts({ openPalette, openHelp }: ShortcutTerms): void {
  const navigate = useNavigate();
  const self = useWho();
  const wentAt = useRef(0);
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") {
        openHelp();
      } else if (event.key === "g") {
        wentAt.current = event.timeStamp;
      } else if (event.timeStamp - wentAt.current < SECOND_KEY_MS) {
        const page = pagesFor(self).find((each) => each.letter === event.key);
        if (page !== undefined) void navigate({ to: page.to });
        wentAt.current = 0;
      }
    }
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

export function ShortcutHelp({
  isOpen,
  setOpen,
}: {
  isOpen: boolean;
  setOpen: (open: boolean) => void;
}) {
  const self = useWho();
  const rows: [string, string][] = [
    ["Ctrl K", "Find a page or an object"],
    ...pagesFor(self).map((page): [string, string] => [`g ${page.letter}`, `Go to ${page.title}`]),
    ["?", "These keys"],
    ["Esc", "Close what is open"],
  ];
  return (
    <Sheet isOpen={isOpen} setOpen={setOpen}>
      <Dialog.Title className="border-b border-line px-4 py-3 font-semibold">Keys</Dialog.Title>
      <dl className="grid grid-cols-[6rem_1fr] gap-y-2 p-4">
        {rows.map(([keys, told]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 py-0.5 font-sans text-xs">
                {keys}
              </kbd>
            </dt>
            <dd>{told}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
