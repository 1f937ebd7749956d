let id: string | undefined;

/** The live socket's id: the server leaves it out when it tells of what this page did itself. */
export const socketId = {
  current: () => id,
  set: (next: string | undefined) => {
    id = next;
  },
};
