/** Opens a container as a sandbox and waits to be killed. */
import { openContainerPlace } from "../../src/sandboxes/container/container-place.ts";
import { findImage } from "../../src/sandboxes/container/image.ts";
import { findEngineApi } from "../../src/sandboxes/container/runtime-socket.ts";
import { CONTAINER_DEFAULTS } from "../../src/config/sandbox-config.ts";

const api = await findEngineApi();
const { id } = await findImage(api, process.argv[2] ?? "");
const signal = new AbortController().signal;
const place = await openContainerPlace({
  api,
  imageId: id,
  user: "postgres",
  limits: CONTAINER_DEFAULTS,
  signal,
});
await place.start({ command: "/bin/sleep", args: ["1000"], signal });
process.stdout.write("ready\n");
setInterval(() => undefined, 1_000);
