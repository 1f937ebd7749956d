/** Libraries that only the host may contain, each with a string found only in its production build. */
export const markers = {
  react: 'react.transitional.element',
  'react-dom': '__reactFiber$',
  'redux toolkit': '@@redux/INIT',
  axios: 'ERR_BAD_RESPONSE',
  'federation core': '__GLOBAL_LOADING_REMOTE_ENTRY__',
  router: 'useLocation() may be used only in the context of',
};
