// A change with something to fill in: as one types, the server is asked what would come of it, and
// only what it would do can be asked for.
import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { Sheet } from "./sheet";
import { Failed, Skeleton } from "./states";

interface FormTerms<Body, Answer> {
  label: string;
  title: string;
  /** What it means, and its fields. */
  children: ReactNode;
  /** What would be sent; null as long as something is missing. */
  body: Body | null;
  change: (body: Body, dryRun: boolean) => Promise<Answer>;
  /** What the dry run answered, for the person to see before he is asked. */
  tell?: (answer: Answer) => ReactNode;
  isMain?: boolean;
  onDone?: () => void;
}

const PAUSE_MS = 350;

/** A value once it has stayed the same for a moment. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function FormAction<Body, Answer>(terms: FormTerms<Body, Answer>) {
  const { label, title, body, change } = terms;
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const key = body === null ? null : JSON.stringify(body);
  const asked = useSettled(key);
  const real = useMutation({
    mutationFn: (wanted: Body) => change(wanted, false),
    onSuccess: async () => {
      setOpen(false);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "dry-run" });
      terms.onDone?.();
    },
  });
  const dryRun = useQuery({
    queryKey: ["dry-run", title, asked],
    enabled: isOpen && asked !== null && (real.isIdle || real.isError),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    queryFn: async () => (await change(JSON.parse(asked ?? "null") as Body, true)) ?? null,
  });
  function open(next: boolean) {
    real.reset();
    setOpen(next);
  }
  const isReady = key !== null && key === asked && dryRun.isSuccess && !dryRun.isFetching;
  return (
    <>
      <button
        type="button"
        className={`button ${terms.isMain ? "button-main" : ""}`}
        onClick={() => open(true)}
      >
        {label}
      </button>
      <Sheet isOpen={isOpen} setOpen={open}>
        <Dialog.Title className="border-b border-line px-4 py-3 font-semibold">
          {title}
        </Dialog.Title>
        <form
          className="space-y-3 p-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (body !== null && isReady) real.mutate(body);
          }}
        >
          {terms.children}
          <div role="status">
            {asked !== null && dryRun.isFetching && <Skeleton lines={1} />}
            {isReady && !real.isError && (
              <div className="space-y-2">
                {dryRun.data !== null && terms.tell?.(dryRun.data)}
                <p className="text-muted">Tried without effect: the server would do it.</p>
              </div>
            )}
          </div>
          {key !== null && key === asked && dryRun.isError && <Failed error={dryRun.error} />}
          {real.isError && <Failed error={real.error} />}
          <div className="flex justify-end gap-2">
            <Dialog.Close className="button" type="button">
              Leave it
            </Dialog.Close>
            <button
              type="submit"
              className="button button-main"
              disabled={!isReady || real.isPending}
            >
              {label}
            </button>
          </div>
        </form>
      </Sheet>
    </>
  );
}
