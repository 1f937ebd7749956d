let current: string | undefined;

/** Id of the live socket, so that the server does not echo to it what it just did. */
export const socketId = () => current;
export const socketIdChanged = (id: string | undefined) => {
  current = id;
};
