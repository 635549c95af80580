// The way to one's inbox, from every page, with how much in it is new.
import { Link } from "@tanstack/react-router";
import { Bell as BellIcon } from "lucide-react";
import { useUnread } from "./queries";

const SHOWN_MAX = 99;

export function Bell() {
  const unread = useUnread();
  const told = unread === 0 ? "Inbox: nothing new" : `Inbox: ${unread} new`;
  return (
    <Link to="/inbox" aria-label={told} title={told} className="button gap-1 px-2 text-muted">
      <BellIcon size={16} aria-hidden />
      {unread > 0 && (
        <span aria-hidden className="text-xs font-semibold text-accent">
          {unread > SHOWN_MAX ? `${SHOWN_MAX}+` : unread}
        </span>
      )}
    </Link>
  );
}
