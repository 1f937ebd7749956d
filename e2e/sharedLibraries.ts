/** A library that only the host carries → a string that only its production build contains. */
export const markers = {
  react: 'react.transitional.element',
  'react-dom': '__reactFiber$',
  'redux toolkit': '@@redux/INIT',
  axios: 'ERR_BAD_RESPONSE',
  'federation core': '__GLOBAL_LOADING_REMOTE_ENTRY__',
  router: 'useLocation() may be used only in the context of',
};
