import { defineRemote, useParams } from '@liaozhai/shared/runtime';
import { type Handlers, type OpenOptions, openRemote } from '@liaozhai/shared/testing';
import { configure } from '@testing-library/react';
import { latestDto, storyDto } from '../fixtures';
import StoryChatPage from './StoryChatPage';

// a busy machine takes its time; what is waited for is what counts
configure({ asyncUtilTimeout: 5000 });

function ChatScreen() {
  const { id = '' } = useParams();
  return <StoryChatPage storyId={id} />;
}

/** The slot as the stories page mounts it. */
const host = defineRemote({
  name: 'chat',
  routes: [{ name: 'story', path: '/story/:id', title: '故事', page: async () => ({ default: ChatScreen }) }],
});

/** Opens the chat of story `s-1` for a member, unless told otherwise. */
export const openChat = (handlers: Handlers = {}, options: OpenOptions = {}) =>
  openRemote(
    host,
    { 'GET /v1/stories/s-1': storyDto(), 'GET /v1/messages/latest': latestDto([]), ...handlers },
    { path: '/story/s-1', user: { balance: 100 }, ...options },
  );
