import type { DumpsSettings } from "../../config/engines/dumps.ts";
import { bucketPlace } from "./bucket-place.ts";
import { directoryPlace } from "./directory-place.ts";
import type { DumpsPlace } from "./place.ts";

/** @throws RunError `connection_reference` if a bucket's credentials are missing. */
export function openPlace({ place }: DumpsSettings): Promise<DumpsPlace> {
  return place.kind === "directory" ? Promise.resolve(directoryPlace(place.path)) : bucketPlace(place.s3);
}
