import type { MultipartUploads, ObjectStore } from "../../platform/objects/object-store.ts";

/** Throws if nothing may be deleted now. */
export type RequireDeletable = () => Promise<void>;

/** The same object store, but every deletion asks first, so no feature can forget to. */
export function guardDeletions(objects: ObjectStore, requireDeletable: RequireDeletable): ObjectStore {
  const multipart = override<MultipartUploads>(objects.multipart, {
    abort: async (request) => {
      await requireDeletable();
      return objects.multipart.abort(request);
    },
  });
  return override<ObjectStore>(objects, {
    multipart,
    remove: async (key) => {
      await requireDeletable();
      return objects.remove(key);
    },
  });
}

function override<T extends object>(target: T, changed: Partial<T>): T {
  return new Proxy(target, {
    get(of, name) {
      if (name in changed) return changed[name as keyof T];
      const value: unknown = Reflect.get(of, name, of);
      // Private fields belong to the target itself.
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}
