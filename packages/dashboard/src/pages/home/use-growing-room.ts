import { useEffect, useState } from "react";

/** This many rows render within a frame or two. */
const STEP = 20;

/** Grows from one count to the other a few rows at a time, so that the page stays responsive. */
export function useGrowingRoom(from: number, to: number): number {
  const [room, setRoom] = useState(from);
  useEffect(() => {
    if (room >= to) return;
    const timer = setTimeout(() => setRoom(Math.min(to, room + STEP)));
    return () => clearTimeout(timer);
  }, [room, to]);
  return Math.max(from, Math.min(room, to));
}
