import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The page of each kind of record, by its id's prefix. */
const PAGES = {
  src: "/sources",
  bkp: "/backups",
  rcpt: "/receipts",
  evt: "/events",
  cmd: "/commands",
  agent: "/agents",
  log: "/api-logs",
} as const;

/** A link to a record's page; the plain id if it has no page. */
export function RecordLink({
  id,
  children = id,
  inText = false,
}: {
  id: string;
  children?: ReactNode;
  /** Inside running text, where a link must differ by more than colour. */
  inText?: boolean;
}) {
  const page = pageOf(id);
  if (page === null) return <>{children}</>;
  return (
    <Anchor
      inherit
      underline={inText ? "always" : "hover"}
      renderRoot={(props) => <Link to={page} {...props} />}
    >
      {children}
    </Anchor>
  );
}

function pageOf(id: string): string | null {
  const prefix = id.slice(0, Math.max(0, id.indexOf("_")));
  const page = Object.entries(PAGES).find(([known]) => known === prefix)?.[1];
  return page === undefined ? null : `${page}/${encodeURIComponent(id)}`;
}
