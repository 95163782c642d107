import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { planConfigEdit } from "../../config/edit-config.ts";
import type { Config } from "../../config/config.ts";
import { configNow, openAttachedRoot, openRoot, type OpenRoot } from "../invocation/open-root.ts";
import { UserError } from "../../errors/user-error.ts";
import { askService } from "../../backends/attached/resolve-source.ts";
import { whyNothing } from "./allowed-files.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { Call, Run } from "../invocation/command.ts";

/**
 * Whether people of the organisation may add sources and checks over the service. Only somebody on
 * this host can change it, who could edit config.yaml as well. It waits for no run, because
 * somebody who takes the permission back wants that now.
 */
export const remoteConfig: Run = async (call, action = "show", ...given) => {
  const root = openRoot(call);
  const { layout, config } = root;
  if (action !== "show" && action !== "on" && action !== "off")
    throw new UserError("usage", `remote-config takes show, on or off, not "${action}"`);
  if (config.service === null || config.agent === null)
    throw new UserError("not_attached", `${layout.root} is attached to no service, so no dashboard asks it.`);
  const words = given.filter((word) => word !== undefined);
  if (action !== "on" && words.length > 0)
    throw new UserError("usage", "directories go with on: attestore remote-config on DIRECTORY");
  if (action === "show") {
    await print(call, root, config, {});
    return 0;
  }
  const isOn = action === "on";
  const directories = await Promise.all(
    words.map((word) => directoryOf(resolve(call.cwd, word), layout.root)),
  );
  const paths = [...new Set([...config.remoteConfigPaths, ...directories])];
  const edit = await planConfigEdit(layout, (document) => {
    // Kept as false, with whatever comment is beside it.
    if (isOn || document.has("allow_remote_config")) document.set("allow_remote_config", isOn);
    for (const path of paths.slice(config.remoteConfigPaths.length)) {
      if (document.has("remote_config_paths")) document.addIn(["remote_config_paths"], path);
      else document.set("remote_config_paths", document.createNode([path], { flow: true }));
    }
  });
  if (edit.after !== edit.before) await edit.write();
  await print(call, root, await configNow(root), { service_told: await tellService(call) });
  return 0;
};

async function print(
  { terminal, flags }: Call,
  { layout }: Pick<OpenRoot, "layout">,
  { allowRemoteConfig, remoteConfigPaths }: Config,
  more: { readonly service_told?: boolean },
): Promise<void> {
  if (flags.isOn("json")) {
    const told = { allow_remote_config: allowRemoteConfig, remote_config_paths: remoteConfigPaths };
    terminal.data(JSON.stringify({ ...told, ...more }));
    return;
  }
  const { good } = terminal.onData;
  if (!allowRemoteConfig) {
    terminal.data(`The dashboard can add nothing on this host: only this host adds sources and checks.`);
    return;
  }
  terminal.data(`${good("✓")} owners and admins may add sources and checks in the dashboard`);
  terminal.data("  They choose among the databases that this host reaches already,");
  terminal.data(
    remoteConfigPaths.length === 0
      ? "  and no files or SQLite databases: attestore remote-config on DIRECTORY allows those below it."
      : `  and among the files and SQLite databases below ${remoteConfigPaths.join(", ")}.`,
  );
  const own = await realpath(layout.root);
  for (const path of remoteConfigPaths) {
    const why = await whyNothing(path, own);
    if (why !== null) terminal.say(`${terminal.onTalk.warn("!")} nothing is offered there: ${why}`);
  }
  terminal.note(
    "They can set no address, password, query or command, and remove nothing. To end it: attestore remote-config off",
  );
}

/**
 * Without links on the way: what they lead to later would be another directory.
 * @throws UserError usage
 */
async function directoryOf(path: string, root: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory())
    throw new UserError("usage", `${path} is not a directory that this user can see`);
  if (real === "/") throw new UserError("usage", "/ is the whole host: name the directory that has the data");
  const own = await realpath(root);
  if (real === own || real.startsWith(`${own}/`))
    throw new UserError("usage", `${real} is in the agent's own root, which has its keys`);
  return real;
}

/**
 * By a heartbeat, so that the page that waits for it continues at once. The next heartbeat reports
 * it too.
 */
async function tellService(call: Call): Promise<boolean> {
  const { terminal, signal } = call;
  const root = await openAttachedRoot(call);
  try {
    await askService(root.attachment, await configNow(root), { signal, once: true });
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    terminal.say(`${terminal.onTalk.warn("!")} the service does not know yet: ${error.message}`);
    return false;
  } finally {
    root.attachment.service.close();
  }
}
