/** A package with the name that people know it by: 故事 of `stories`. */
export interface NamedPackage {
  name: string;
  label: string;
}

/** What packages are called, as the server last said. One that it did not name stands for itself. */
function createLabels() {
  let labelsByName = new Map<string, string>();
  return {
    set: (names: readonly NamedPackage[]) => {
      labelsByName = new Map(names.map(({ name, label }) => [name, label]));
    },
    of: (name: string): string => labelsByName.get(name) ?? name,
  };
}

export const labels = createLabels();
