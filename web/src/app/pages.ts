// Every page that one can go to, who it is for, and the keys that lead there. The side navigation,
// the palette and the help for keys are made from this list.
import {
  Bell,
  Boxes,
  Building2,
  CalendarClock,
  Coins,
  Container,
  Cpu,
  House,
  LayoutGrid,
  ListOrdered,
  Network,
  Play,
  ScrollText,
  ShieldCheck,
  Split,
  Share2,
  SquareTerminal,
  Workflow,
  Wrench,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { mayAnywhere, type Key, type Self } from "./who";

export interface PageRow {
  to: string;
  title: string;
  icon: LucideIcon;
  key: Key | null;
  /** Pressed after `g`. */
  letter: string;
}

export const PAGES: PageRow[] = [
  { to: "/", title: "Home", icon: House, key: null, letter: "h" },
  { to: "/inbox", title: "Inbox", icon: Bell, key: null, letter: "b" },
  { to: "/run", title: "Run something", icon: Play, key: "scheduler.queue.submit", letter: "r" },
  { to: "/jobs", title: "Jobs", icon: SquareTerminal, key: "scheduler.queue.read", letter: "j" },
  { to: "/queue", title: "Queue", icon: ListOrdered, key: "scheduler.queue.read", letter: "q" },
  { to: "/leases", title: "Leases", icon: Boxes, key: "scheduler.lease.read", letter: "l" },
  { to: "/nodes", title: "Nodes", icon: Cpu, key: "scheduler.node.read", letter: "n" },
  {
    to: "/maintenance",
    title: "Maintenance",
    icon: Wrench,
    key: "scheduler.node.read",
    letter: "w",
  },
  {
    to: "/bookings",
    title: "Bookings",
    icon: CalendarClock,
    key: "scheduler.booking.read",
    letter: "k",
  },
  { to: "/cells", title: "Cells", icon: Network, key: "scheduler.cell.read", letter: "c" },
  { to: "/tenants", title: "Tenants", icon: Building2, key: "iam.tenant.read", letter: "t" },
  { to: "/money", title: "Money", icon: Coins, key: "metering.usage.read", letter: "m" },
  {
    to: "/security",
    title: "Security",
    icon: ShieldCheck,
    key: "scheduler.isolation.read",
    letter: "y",
  },
  { to: "/isolation", title: "Isolation", icon: Split, key: "scheduler.isolation.read", letter: "x" },
  { to: "/graphs", title: "Graphs", icon: Workflow, key: "scheduler.queue.read", letter: "d" },
  { to: "/apps", title: "Apps", icon: LayoutGrid, key: "scheduler.catalog.read", letter: "a" },
  {
    to: "/instances",
    title: "Instances",
    icon: Container,
    key: "scheduler.instance.read",
    letter: "i",
  },
  {
    to: "/runtimes",
    title: "Shared runtimes",
    icon: Share2,
    key: "scheduler.shared_runtime.read",
    letter: "s",
  },
  { to: "/records", title: "Journal", icon: ScrollText, key: "journal.record.read", letter: "o" },
];

export function pagesFor(self: Self): PageRow[] {
  return PAGES.filter((page) => page.key === null || mayAnywhere(self, page.key));
}
