import { useSuspenseQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { meQuery } from "../api/session.ts";
import { PageSkeleton } from "../parts/feedback/page-skeleton.tsx";

/**
 * Shows its children to signed-in users. If the session ends, it reloads the page, which asks to
 * sign in and then returns here.
 */
export function SessionGuard({ children }: { children: ReactNode }) {
  const { data } = useSuspenseQuery(meQuery);
  return data === null ? <LoadAnew /> : children;
}

/** A reload clears everything that was shown from memory. */
function LoadAnew() {
  useEffect(() => window.location.reload(), []);
  return <PageSkeleton />;
}
