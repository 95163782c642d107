import type { Job } from "../../platform/jobs/job.ts";
import { expireBackups } from "./expire-backups.ts";
import { removeExpiredObjects } from "./remove-objects.ts";
import type { RetentionDeps } from "./deps.ts";
import { sweepObjects } from "./sweep-objects.ts";

export function retentionJobs(deps: RetentionDeps): Job[] {
  return [
    { name: "expire_backups", every_s: 600, run: (context) => expireBackups(deps, context) },
    { name: "remove_objects", every_s: 600, run: (context) => removeExpiredObjects(deps, context) },
    {
      name: "sweep_objects",
      every_s: 3600,
      run: async (context) => {
        await sweepObjects(deps, context);
      },
    },
  ];
}
