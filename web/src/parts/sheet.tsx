// A dialog: focus stays in it, Esc closes it, what was focused before gets the focus back.
import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

interface SheetTerms {
  isOpen: boolean;
  setOpen: (open: boolean) => void;
  children: ReactNode;
}

export function Sheet({ isOpen, setOpen, children }: SheetTerms) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="panel fixed top-[12dvh] left-1/2 z-50 max-h-[76dvh] w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 overflow-auto shadow-xl outline-none">
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
