import type { MultipartUploads, ObjectStore } from "../../platform/objects/object-store.ts";

/** May something be deleted now? Throws where not. */
export type RequireDeletable = () => Promise<void>;

/** The same object store, whose deletions ask first: no feature can forget to. */
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
      // Private fields are the target's own.
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}
