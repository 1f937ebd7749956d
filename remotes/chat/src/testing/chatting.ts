import type { MessageDto } from '@liaozhai/shared/contract';
import { defineRemote, useParams } from '@liaozhai/shared/runtime';
import { type Handlers, type OpenOptions, openRemote, type RecordedRequest, screen } from '@liaozhai/shared/testing';
import { createElement } from 'react';
import { conversationDto, latestDto, messageDto, storyDto } from '../fixtures';
import StoryChatPage from '../pages/StoryChatPage';

function ChatScreen() {
  const { id = '' } = useParams();
  return createElement(StoryChatPage, { storyId: id });
}

/** Mounts the slot as the stories page does. */
const host = defineRemote({
  name: 'chat',
  routes: [{ name: 'story', path: '/story/:id', title: '故事', page: async () => ({ default: ChatScreen }) }],
});

/** Opens the chat of story `s-1`, as a member by default. */
export const openChat = (handlers: Handlers = {}, options: OpenOptions = {}) =>
  openRemote(
    host,
    { 'GET /v1/stories/s-1': storyDto(), 'GET /v1/messages/latest': latestDto([]), ...handlers },
    { path: '/story/s-1', user: { balance: 100 }, ...options },
  );

export const LATEST = 'GET /v1/messages/latest';
export const SEND = 'POST /v1/messages';
export const RESTART = 'POST /v1/conversations/c-1/restart';
export const userLine = messageDto({ seq: 1, role: 'user', body: '谁在门外？', client_id: 'client-1' });
export const replyLine = messageDto({ seq: 2, body: '她提着灯，站了许久。' });

/** Opens a chat that is empty once it was restarted with this answer. */
export function openRestartable(answer: object, options: OpenOptions, handlers: Handlers = {}) {
  let latest = latestDto([userLine, replyLine]);
  const restart = () => {
    latest = latestDto([], { conversation_id: 'c-1', version: 3, last_seq: 0 });
    return answer;
  };
  return openChat({ [LATEST]: () => latest, [RESTART]: restart, ...handlers }, options);
}

export const bodyOf = (request: RecordedRequest) => request.body as { client_id: string; body: string };
export const field = () => screen.findByRole('textbox', { name: '说点什么' });
export const sendButton = () => screen.getByRole('button', { name: '发送' });
export const sends = (requests: RecordedRequest[]) => requests.filter(({ method, url }) => `${method} ${url}` === SEND);

/** Response to a first message: the message, a pending reply, the new conversation and the new balance. */
export const sentDto = (request: RecordedRequest, patch: Partial<MessageDto> = {}) => ({
  status: 201,
  body: {
    message: messageDto({ seq: 1, role: 'user', body: bodyOf(request).body, client_id: bodyOf(request).client_id }),
    reply: messageDto({ seq: 2, body: '', status: 'pending', ...patch }),
    conversation: conversationDto(),
    balance: 98,
  },
});

/** Response to the message after `userLine` and `replyLine`. */
export function secondSentDto(request: RecordedRequest) {
  const { status, body } = sentDto(request);
  const message = { ...body.message, id: 'm-3', seq: 3, version: 3 };
  return { status, body: { ...body, message, reply: { ...body.reply, id: 'm-4', seq: 4, version: 4 } } };
}

export async function write(user: ReturnType<typeof openChat>['user'], text: string) {
  await user.type(await field(), text);
  await user.click(sendButton());
}
