// The frame around every page: where one can go, what one works in, how fresh it is, who one is.
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { LogOut, Menu, Monitor, Moon, Search, Sun } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { logOut } from "@/api/session";
import { Bell } from "@/nouns/inbox/bell";
import { Skeleton } from "@/parts/states";
import { assertNever } from "@/words/assert-never";
import { LiveProvider, useFreshness, type Freshness } from "./live";
import { Mark } from "./mark";
import { Palette } from "./palette";
import { pagesFor } from "./pages";
import { ScopeProvider, ScopeSwitcher } from "./scope";
import { ShortcutHelp, useShortcuts } from "./shortcuts";
import { choose, following, useThemeChoice } from "./theme";
import { useRenewal } from "./renewal";
import { pageOf } from "./where";
import { useWho } from "./who";

export function Shell() {
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <ScopeProvider>
        <LiveProvider>
          <Frame />
        </LiveProvider>
      </ScopeProvider>
    </Suspense>
  );
}

function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const shown = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  useRenewal();
  useEffect(() => setMenuOpen(false), [path]);
  useShortcuts({ openPalette: () => setPaletteOpen(true), openHelp: () => setHelpOpen(true) });
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="button button-main sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50"
      >
        Skip to the content
      </a>
      <Side isOpen={isMenuOpen} openHelp={() => setHelpOpen(true)} />
      <div className="min-w-0">
        <header className="sticky top-0 z-20 flex min-h-13 items-center gap-2 border-b border-line bg-panel px-3 py-2 md:px-5">
          <button
            type="button"
            className="button px-2 md:hidden"
            aria-expanded={isMenuOpen}
            aria-controls="side"
            aria-label="Menu"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <Menu size={18} aria-hidden />
          </button>
          <ScopeSwitcher />
          <button
            type="button"
            className="button text-muted sm:ml-auto"
            onClick={() => setPaletteOpen(true)}
            title="Find a page or an object"
          >
            <Search size={15} aria-hidden />
            <span className="sr-only sm:not-sr-only">Find</span>
            <kbd className="hidden rounded border border-line px-1 font-sans text-xs sm:inline">
              Ctrl K
            </kbd>
          </button>
          <Bell />
          <Live />
        </header>
        <main
          id="content"
          data-shown={shown}
          tabIndex={-1}
          className="mx-auto max-w-[1600px] px-3 py-4 outline-none md:px-5"
        >
          <Suspense fallback={<Skeleton lines={8} />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Palette isOpen={isPaletteOpen} setOpen={setPaletteOpen} />
      <ShortcutHelp isOpen={isHelpOpen} setOpen={setHelpOpen} />
    </div>
  );
}

function Side({ isOpen, openHelp }: { isOpen: boolean; openHelp: () => void }) {
  const self = useWho();
  const here = useRouterState({ select: (state) => pageOf(state.location.pathname) });
  return (
    <aside
      id="side"
      aria-label="Where to go, and who you are"
      className={`${isOpen ? "flex" : "hidden"} flex-col border-r border-line bg-panel md:sticky md:top-0 md:flex md:h-dvh`}
    >
      <Link
        to="/"
        className="hidden h-13 items-center gap-2 px-4 font-semibold tracking-tight md:flex"
      >
        <Mark size={22} /> Bailiwick
      </Link>
      <nav aria-label="Pages" className="flex-1 space-y-0.5 overflow-y-auto p-2">
        {pagesFor(self).map(({ to, title, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true }}
            aria-current={to === here ? "page" : undefined}
            className={`flex items-center gap-2.5 rounded-md px-2.5 py-1.5 ${
              to === here
                ? "bg-accent-soft font-medium text-accent"
                : "text-muted hover:bg-raised hover:text-ink"
            }`}
          >
            <Icon size={16} aria-hidden /> {title}
          </Link>
        ))}
      </nav>
      <div className="space-y-1 border-t border-line p-2">
        <div className="flex items-center gap-1">
          <ThemeButton />
          <button
            type="button"
            className="rounded-md px-2.5 py-1.5 text-muted hover:bg-raised"
            onClick={openHelp}
          >
            Keys <kbd className="rounded border border-line px-1 font-sans text-xs">?</kbd>
          </button>
        </div>
        <div className="flex items-center gap-2 px-2.5 py-1">
          <div className="min-w-0 flex-1">
            <div className="truncate font-medium">{self.principal}</div>
            <div className="truncate text-xs text-muted">
              {self.roles.map((role) => role.role.replaceAll("_", " ")).join(", ") || "no role"}
            </div>
          </div>
          <LogOutButton />
        </div>
      </div>
    </aside>
  );
}

function ThemeButton() {
  const chosen = useThemeChoice();
  const icons = { system: Monitor, light: Sun, dark: Moon };
  const Icon = icons[chosen];
  return (
    <button
      type="button"
      className="flex flex-1 items-center gap-2 rounded-md px-2.5 py-1.5 text-muted hover:bg-raised"
      onClick={() => choose(following(chosen))}
      aria-label={`Theme: ${chosen}. Press for ${following(chosen)}`}
    >
      <Icon size={16} aria-hidden /> {chosen}
    </button>
  );
}

function LogOutButton() {
  const client = useQueryClient();
  const navigate = useNavigate();
  async function leave() {
    await logOut();
    client.clear();
    await navigate({ to: "/login" });
  }
  return (
    <button
      type="button"
      aria-label="Log out"
      title="Log out"
      className="rounded-md p-1.5 text-muted hover:bg-raised hover:text-ink"
      onClick={() => void leave()}
    >
      <LogOut size={16} aria-hidden />
    </button>
  );
}

function Live() {
  const state = useFreshness();
  const [tone, told] = toldOf(state);
  return (
    <span
      role="status"
      className="flex items-center gap-1.5 text-xs whitespace-nowrap text-muted"
      title={told}
    >
      <span aria-hidden className={`size-2 rounded-full ${tone}`} />
      <span className="sr-only sm:not-sr-only">{told}</span>
    </span>
  );
}

function toldOf(state: Freshness): [string, string] {
  switch (state) {
    case "live":
      return ["bg-good", "live"];
    case "connecting":
      return ["bg-strong", "connecting"];
    case "lost":
      return ["bg-bad", "connection lost, trying again"];
    case "asking":
      return ["bg-info", "asks every 10s"];
    case "refused":
    case "ended":
      return ["bg-warn", "not live: log in again"];
    default:
      return assertNever(state);
  }
}
