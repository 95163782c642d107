import type { UploadConfig } from "../config/upload-config.ts";
import { untilWindow_ms } from "../config/upload-config.ts";
import { ServiceError } from "../transport/service-error.ts";

/**
 * @throws ServiceError `outside_window`, with the time to come back, while uploads are not allowed
 */
export function requireWindow({ windows }: UploadConfig, now = new Date()): void {
  const wait_ms = untilWindow_ms(windows, now);
  if (wait_ms <= 0) return;
  const opens = new Date(now.getTime() + wait_ms);
  const clock = [opens.getHours(), opens.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
  throw new ServiceError(
    "outside_window",
    `the next upload window opens at ${clock} (upload.windows); to upload now: \`attestore sync\``,
    { retryAfter_s: Math.ceil(wait_ms / 1000) },
  );
}
