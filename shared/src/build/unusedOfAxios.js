// Replaces unused modules of axios in the host. Without the fetch transport axios uses XMLHttpRequest; nothing reads the other two names.
export const getFetch = () => null;
export default null;
