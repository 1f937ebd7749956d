/** A package and its label: 故事 for `stories`. */
export interface NamedPackage {
  name: string;
  label: string;
}

/** Labels of packages, as last sent by the server. Default: the name. */
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
