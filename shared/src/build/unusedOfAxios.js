// Replaces modules of axios in the host. Without its fetch transport axios takes XMLHttpRequest; nothing reads the two names.
export const getFetch = () => null;
export default null;
