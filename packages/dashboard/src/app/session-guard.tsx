import { useSuspenseQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { meQuery } from "../api/session.ts";
import { PageSkeleton } from "../parts/page-skeleton.tsx";

/** Shows its children to whoever is signed in. Where the session ends meanwhile, the page is loaded anew, which asks to sign in and comes back. */
export function SessionGuard({ children }: { children: ReactNode }) {
  const { data } = useSuspenseQuery(meQuery);
  return data === null ? <LoadAnew /> : children;
}

/** A page that is loaded anew keeps nothing of what was shown. */
function LoadAnew() {
  useEffect(() => window.location.reload(), []);
  return <PageSkeleton />;
}
