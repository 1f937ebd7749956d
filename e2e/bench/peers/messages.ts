export interface PeerMessage {
  id: string;
  role: string;
  text: string;
}

/** What the bench drives: a page that draws a chat in another product's way. */
export interface Peer {
  show(messages: PeerMessage[]): void;
  /** The next piece of the last message. */
  grow(text: string): void;
}

declare global {
  interface Window {
    __peer: Peer;
  }
}

export const pageStyle = `
  [role=log] { height: 844px; overflow: hidden auto; font: 16px/1.6 sans-serif; }
  .message { display: flex; gap: 10px; padding: 10px; }
  .message img, .avatar { flex: none; width: 40px; height: 40px; border-radius: 50%; background: #888; }
  .text { flex: 1; min-width: 0; }
`;
