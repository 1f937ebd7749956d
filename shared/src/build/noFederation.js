// replaces Module Federation's runtime in the monolith, whose remotes are compiled in
export const getInstance = () => null;
export const registerRemotes = () => {};
export const loadRemote = () => Promise.reject(new Error('a monolith loads nothing'));
export const shareFederationRuntime = () => {};
