// replaces axios/lib/adapters/fetch.js in the host: the transport is not available, axios takes XMLHttpRequest
export const getFetch = () => null;
export default null;
