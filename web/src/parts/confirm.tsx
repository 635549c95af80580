// A change: first the server is asked what would come of it (a dry run), then the person, then it is
// done. What the server refuses is told before anything was tried.
import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Failed, Skeleton } from "./states";
import { Sheet } from "./sheet";

interface ActionTerms<Answer> {
  label: string;
  title: string;
  /** What it means, in a sentence. */
  children: ReactNode;
  change: (dryRun: boolean) => Promise<Answer>;
  /** What the dry run answered, for the person to see before he is asked. */
  tell?: (answer: Answer) => ReactNode;
  isBad?: boolean;
  onDone?: () => unknown;
}

export function Action<Answer>(terms: ActionTerms<Answer>) {
  const { label, title, children, change, tell, isBad = false, onDone } = terms;
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const dryRun = useMutation({ mutationFn: () => change(true) });
  const real = useMutation({
    mutationFn: () => change(false),
    onSuccess: async () => {
      setOpen(false);
      // Where it leads away from what is gone now, nothing asks after that again.
      await onDone?.();
      await client.invalidateQueries();
    },
  });
  function open(next: boolean) {
    setOpen(next);
    real.reset();
    if (next) dryRun.mutate();
  }
  return (
    <>
      <button
        type="button"
        className={`button ${isBad ? "button-bad" : ""}`}
        onClick={() => open(true)}
      >
        {label}
      </button>
      <Sheet isOpen={isOpen} setOpen={open}>
        <Dialog.Title className="border-b border-line px-4 py-3 font-semibold">
          {title}
        </Dialog.Title>
        <div className="space-y-3 p-4">
          <Dialog.Description render={<div />}>{children}</Dialog.Description>
          {dryRun.isPending && <Skeleton lines={1} />}
          {dryRun.isError && <Failed error={dryRun.error} />}
          {dryRun.isSuccess && !real.isError && (
            <>
              {tell?.(dryRun.data)}
              <p className="text-muted">Tried without effect: the server would do it.</p>
            </>
          )}
          {real.isError && <Failed error={real.error} />}
          <div className="flex justify-end gap-2">
            <Dialog.Close className="button">Leave it</Dialog.Close>
            <button
              type="button"
              className={`button ${isBad ? "button-bad" : "button-main"}`}
              disabled={!dryRun.isSuccess || real.isPending}
              onClick={() => real.mutate()}
            >
              {label}
            </button>
          </div>
        </div>
      </Sheet>
    </>
  );
}
