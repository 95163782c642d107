import type { DumpsSettings } from "../../config/engines/dumps.ts";
import { bucketPlace } from "./bucket-place.ts";
import { directoryPlace } from "./directory-place.ts";
import type { DumpsPlace } from "./place.ts";

/** @throws RunError `connection_reference` without a bucket's credentials. */
export function openPlace({ place }: DumpsSettings): Promise<DumpsPlace> {
  return place.kind === "directory" ? Promise.resolve(directoryPlace(place.path)) : bucketPlace(place.s3);
}
