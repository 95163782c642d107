import { useEffect, useState } from "react";

/** So many rows are laid out well within a frame or two. */
const STEP = 20;

/** Grows from the one number to the other some rows at a time, so that the page answers in between. */
export function useGrowingRoom(from: number, to: number): number {
  const [room, setRoom] = useState(from);
  useEffect(() => {
    if (room >= to) return;
    const timer = setTimeout(() => setRoom(Math.min(to, room + STEP)));
    return () => clearTimeout(timer);
  }, [room, to]);
  return Math.max(from, Math.min(room, to));
}
